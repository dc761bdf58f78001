import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { verifyJobs } from '../../src/backup/verify.ts';
import { startQueueWorld } from '../support/queue-world.ts';
import type { TestHubOptions } from '../support/test-hub.ts';

const { jobEvents, jobs, runs, uncertainties } = endpoints;
const DAY_MS = 24 * 60 * 60 * 1_000;
const RETENTION_DAYS = 30;
/** More than any of these tests needs. */
const PIECES_MAX = 50;

interface ArchiveLine {
  type: string;
  job?: { jobId: string; status: string; prompt: string };
  event?: { jobId: string; kind: string };
}

interface PartRow {
  object_key: string;
  sha256: string;
  size_bytes: number;
  jobs: number;
  events: number;
  sealed_at: number | null;
}

/** A queue whose workspace keeps jobs for a month, and what its archive says. */
async function setupRetention(t: TestContext, options: Omit<TestHubOptions, 'clock'> = {}) {
  const h = await startQueueWorld(t, options);
  const { workspaceId } = h;
  const { database, loops } = h.hub;
  await database.write(null, (tx) =>
    tx.runSql('UPDATE workspaces SET retention_days = ? WHERE workspace_id = ?', [
      RETENTION_DAYS,
      workspaceId,
    ]),
  );
  // Tests run the loops by hand, not by advancing the clock.
  for (const loop of Object.values(loops)) await loop.stop();
  const archiveDir = join(h.dataDir, 'archive', workspaceId);
  const files = () =>
    readdirSync(archiveDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  const runPiece = () => loops.jobRetention.runOnce();
  return {
    ...h,
    files,
    runPiece,
    /** Runs until the first are removed. */
    async removeSome() {
      for (let pieces = 0; pieces < PIECES_MAX; pieces++) {
        const { removed } = await runPiece();
        if (removed > 0) return removed;
      }
      return assert.fail('nothing is removed');
    },
    /** Runs until nothing is left to do. */
    async retire() {
      const total = { archived: 0, removed: 0 };
      for (let pieces = 0; pieces < PIECES_MAX; pieces++) {
        const { archived, removed, hasMore } = await runPiece();
        total.archived += archived;
        total.removed += removed;
        if (!hasMore) return total;
      }
      return assert.fail('the loop does not finish');
    },
    lines: () =>
      files().flatMap((path) =>
        readFileSync(path, 'utf8')
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as ArchiveLine),
      ),
    parts: () =>
      database.reader.allSql<PartRow>('SELECT * FROM archive_parts ORDER BY object_key', []),
    count: async (table: string) => {
      // Events have the key of their job only, and this database has one workspace.
      const isOfJob = table === 'job_events';
      const row = await database.reader.firstSql<{ rows: number }>(
        `SELECT COUNT(*) AS rows FROM ${table} ${isOfJob ? '' : 'WHERE workspace_id = ?'}`,
        isOfJob ? [] : [workspaceId],
      );
      return row?.rows;
    },
    async done(prompt: string) {
      const { jobId } = await h.enqueue({ prompt });
      await h.claim();
      await h.complete(jobId);
      return jobId;
    },
  };
}

test('a log leaves the database with its job', async (t) => {
  const h = await setupRetention(t);
  const { workspaceId, agentId } = h;
  const { jobId } = await h.enqueue();
  await h.claim();
  const entries = Array.from({ length: 500 }, (_, i) => ({ logSeq: i + 1, message: 'line\n' }));
  const append = (from: number) =>
    h.call(jobEvents.append, {
      workspaceId,
      jobId,
      agentId,
      entries: entries.map((entry) => ({ ...entry, logSeq: from + entry.logSeq })),
    });
  for (const from of [0, 500, 1_000]) await append(from);
  await h.complete(jobId);
  h.clock.advance((RETENTION_DAYS + 1) * DAY_MS);
  await h.removeSome();
  // The rest of the timeline is deleted later.
  assert.ok(Number(await h.count('job_events')) > 0);
  await h.refuse(jobs.log, { workspaceId, jobId }, 'JOB_NOT_FOUND');
  await h.refuse(jobs.searchLog, { workspaceId, jobId, text: 'line' }, 'JOB_NOT_FOUND');
  await h.refuse(jobs.downloadLog, { workspaceId, jobId }, 'JOB_NOT_FOUND');
  await h.retire();
  for (const table of ['job_events', 'job_logs', 'job_log_marks', 'job_activities']) {
    assert.equal(await h.count(table), 0, table);
  }
  assert.equal(h.lines().filter(({ event }) => event?.kind === 'log').length, 1_500);
});

test('a job past its retention is archived with its timeline and then deleted from the database', async (t) => {
  const h = await setupRetention(t);
  const old = await h.done('An old one.');
  h.clock.advance((RETENTION_DAYS - 1) * DAY_MS);
  assert.deepEqual(await h.retire(), { archived: 0, removed: 0 });
  const young = await h.done('A young one.');
  h.clock.advance(DAY_MS + 1);
  assert.deepEqual(await h.retire(), { archived: 1, removed: 1 });

  await h.refuse(jobs.get, { workspaceId: h.workspaceId, jobId: old }, 'JOB_NOT_FOUND');
  assert.equal((await h.get(young)).job.status, 'done');
  const lines = h.lines();
  assert.deepEqual(
    lines.map(({ type, job, event }) => [type, job?.prompt ?? event?.kind]),
    [
      ['archive', undefined],
      ['job', 'An old one.'],
      ['event', 'enqueued'],
      ['event', 'claimed'],
      ['event', 'completed'],
    ],
  );
  const [part] = await h.parts();
  const [file = ''] = h.files();
  const bytes = readFileSync(file);
  assert.ok(part && part.sealed_at !== null && file.endsWith(part.object_key));
  assert.equal(part.sha256, createHash('sha256').update(bytes).digest('hex'));
  assert.deepEqual([part.size_bytes, part.jobs, part.events], [bytes.length, 1, 3]);
  for (const table of ['queue_entries', 'jobs']) assert.equal(await h.count(table), 1, table);
  assert.equal(await h.count('job_events'), 3);
  assert.equal(await h.count('entry_removals'), 0);
});

test('a job is kept while another job depends on it, while it is blocked, and while it is pending', async (t) => {
  const h = await setupRetention(t);
  const { jobId: failed } = await h.enqueue();
  await h.claim();
  await h.complete(failed, { outcome: 'failed' });
  const { jobId: dependent } = await h.enqueue({ dependsOn: [failed] });
  const { jobId: blocked } = await h.enqueue();
  await h.claim();
  await h.complete(blocked, { outcome: 'blocked' });
  h.clock.advance(2 * RETENTION_DAYS * DAY_MS);
  assert.deepEqual(await h.retire(), { archived: 0, removed: 0 });

  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId: dependent });
  h.clock.advance(2 * RETENTION_DAYS * DAY_MS);
  await h.retire();
  await h.retire();
  assert.deepEqual([await h.count('jobs'), await h.count('queue_dependencies')], [1, 0]);
  assert.equal((await h.get(blocked)).job.status, 'blocked');
});

test('a job that changes after it was archived is kept, and archived again later', async (t) => {
  const h = await setupRetention(t);
  const retried = (await h.enqueue({ prompt: 'Retried.' })).jobId;
  const { claimGeneration } = await h.claim();
  await h.complete(retried, { outcome: 'failed' });
  const late = (await h.enqueue({ prompt: 'Late.' })).jobId;
  await h.claim();
  await h.complete(late, { outcome: 'failed' });
  h.clock.advance(RETENTION_DAYS * DAY_MS + 1);
  assert.equal((await h.runPiece()).archived + (await h.runPiece()).archived, 2);
  await h.call(jobs.retry, { workspaceId: h.workspaceId, jobId: retried });
  await h.refuse(
    jobs.complete,
    { workspaceId: h.workspaceId, jobId: late, agentId: h.agentId, outcome: 'done' },
    'JOB_ALREADY_FINISHED',
  );
  assert.equal((await h.runPiece()).removed, 0);
  assert.equal((await h.get(retried)).job.status, 'pending');
  // The next round comes across it again.
  await h.retire();
  assert.deepEqual(await h.retire(), { archived: 1, removed: 1 });
  await h.refuse(jobs.get, { workspaceId: h.workspaceId, jobId: late }, 'JOB_NOT_FOUND');
  const evidence = h.lines().filter(({ event }) => event?.jobId === late && event.kind === 'log');
  assert.equal(evidence.length, 1);
  assert.equal(claimGeneration, 1);
});

test('an unsealed file that a crash left is deleted, and its jobs are archived again', async (t) => {
  const h = await setupRetention(t);
  const { database } = h.hub;
  await h.done('Archived twice.');
  h.clock.advance(RETENTION_DAYS * DAY_MS + 1);
  // The hub dies between the file and the action that seals it.
  const write = database.write.bind(database);
  let writes = 0;
  t.mock.method(database, 'write', (...args: Parameters<typeof write>) => {
    if (args[0] === h.workspaceId) writes += 1;
    return writes === 2 ? Promise.reject(new Error('killed')) : write(...args);
  });
  await assert.rejects(async () => {
    for (let pieces = 0; pieces < PIECES_MAX; pieces++) await h.runPiece();
  }, /killed/);
  const [torn = ''] = h.files();
  assert.equal(await h.count('jobs'), 1);

  await h.retire();
  await h.retire();
  assert.equal(h.files().length, 2);
  h.clock.advance(60 * 60 * 1_000 + 1);
  await h.retire();
  const [file = '', ...others] = h.files();
  assert.notEqual(file, torn);
  assert.deepEqual(others, []);
  assert.equal(h.lines().filter(({ type }) => type === 'job').length, 1);
  assert.deepEqual([await h.count('jobs'), (await h.parts()).length], [0, 1]);
});

test('a restarted hub resumes an interrupted deletion and archives nothing twice', async (t) => {
  const h = await setupRetention(t);
  for (let n = 0; n < 120; n++) await h.enqueue();
  const claimed: string[] = [];
  for (let n = 0; n < 120; n++) claimed.push((await h.claim()).jobId ?? '');
  for (const jobId of claimed) await h.complete(jobId);
  h.clock.advance(RETENTION_DAYS * DAY_MS + 1);
  const removed = await h.removeSome();
  assert.ok(removed < 120, `${removed} at once`);
  // The next hub starts from the state of the database.
  const { removed: rest, archived } = await h.retire();
  assert.deepEqual([removed + rest, archived], [120, 0]);
  assert.equal(h.lines().filter(({ type }) => type === 'job').length, 120);
});

test('a long timeline is deleted in batches, after its job', async (t) => {
  const h = await setupRetention(t);
  const { seedEvents } = await import('../support/seed-database.ts');
  const jobId = await h.done('Much to say.');
  const { workspaceId, clock, hub } = h;
  await seedEvents(hub.database, { workspaceId, jobId, atMs: clock.nowMs() }, 2_500);
  clock.advance(RETENTION_DAYS * DAY_MS + 1);
  await h.removeSome();
  await h.refuse(jobs.get, { workspaceId, jobId }, 'JOB_NOT_FOUND');
  await h.refuse(jobEvents.listForJob, { workspaceId, jobId }, 'JOB_NOT_FOUND');
  const left = (await h.count('job_events')) ?? 0;
  assert.ok(left > 0 && left < 2_503, `${left} events are left`);
  assert.deepEqual((await verifyJobs(hub.database.reader)).problems, []);
  await h.retire();
  assert.deepEqual([await h.count('job_events'), await h.count('entry_removals')], [0, 0]);
  assert.equal(h.lines().filter(({ type }) => type === 'event').length, 2_503);
});

test('jobs are deleted without an archive, and kept without a retention period', async (t) => {
  const h = await setupRetention(t, { config: { archiveJobs: false } });
  await h.done('Gone.');
  const other = await h.addWorkspace('forever');
  const agentId = await h.addAgent(other, 'second');
  const { workspaceId, repoId, token } = other;
  const body = { workspaceId, repoId, kind: 'work' as const, prompt: 'Stay.' };
  const { jobId } = await h.call(jobs.enqueue, body, token);
  await h.call(jobs.claimNext, { workspaceId, agentId }, token);
  await h.call(jobs.complete, { workspaceId, agentId, jobId, outcome: 'done' }, token);
  h.clock.advance(1_000 * DAY_MS);
  assert.deepEqual(await h.retire(), { archived: 1, removed: 1 });
  assert.equal(await h.count('jobs'), 0);
  assert.throws(h.files, /ENOENT/);
  const rows = await h.hub.database.reader.allSql('SELECT job_id FROM jobs', []);
  assert.deepEqual(
    rows.map((row) => ({ ...(row as object) })),
    [{ job_id: jobId }],
  );
});

test('a person may still answer a question that the retention of its job has dismissed', async (t) => {
  const h = await setupRetention(t);
  const { workspaceId, repoId, call } = h;
  const run = { workspaceId, repoId, runRef: 'r', status: 'in_progress' };
  const { runId } = await call(runs.upsertV1, run);
  const { jobId } = await h.enqueue({ runId });
  await h.claim();
  const question = { prompt: 'Which?', kind: 'choice', confidence: 0.2 } as const;
  const { uncertaintyId } = await call(uncertainties.createWithAutoPromotion, {
    workspaceId,
    runId,
    jobId,
    ...question,
  });
  await h.complete(jobId);
  h.clock.advance(RETENTION_DAYS * DAY_MS + 1);
  assert.deepEqual(await h.retire(), { archived: 1, removed: 1 });
  await call(uncertainties.addResolution, {
    workspaceId,
    uncertaintyId,
    mode: 'answered',
    value: 'blue',
    confidence: 1,
    supersede: true,
  });
  const { jobs: made } = await call(jobs.list, { workspaceId, runId });
  assert.deepEqual(
    made.map(({ kind, parentJobId }) => [kind, parentJobId]),
    [['apply_decision', null]],
  );
});

test('an empty lane is deleted a day after its last entry arrived, and the next entry creates it again', async (t) => {
  const h = await setupRetention(t);
  const lanes = () => h.count('queue_lanes');
  await h.done('First.');
  h.clock.advance(2 * DAY_MS);
  await h.retire();
  assert.equal(await lanes(), 1);
  h.clock.advance(RETENTION_DAYS * DAY_MS);
  await h.retire();
  await h.retire();
  assert.equal(await lanes(), 0);
  const jobId = await h.done('Second.');
  assert.equal((await h.get(jobId)).job.status, 'done');
  assert.equal(await lanes(), 1);
});

test('a lane that only another hub has used is kept', async (t) => {
  const h = await setupRetention(t);
  await h.done('First.');
  h.clock.advance(RETENTION_DAYS * DAY_MS + 1);
  // Another hub assumes for a time that the lane is active, because it has just written it.
  await h.hub.database.write(h.workspaceId, (tx) =>
    tx.runSql('UPDATE queue_lanes SET used_at = ?', [tx.nowMs]),
  );
  await h.retire();
  h.clock.advance(DAY_MS);
  await h.retire();
  assert.deepEqual([await h.count('jobs'), await h.count('queue_lanes')], [0, 1]);
  h.clock.advance(1);
  await h.retire();
  assert.equal(await h.count('queue_lanes'), 0);
});
