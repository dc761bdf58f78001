import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AGENT_OFFLINE_AFTER_MS, endpoints } from '@signalbox/contract';
import type { SqlValue } from '../../src/db/engine.ts';
import { openStream } from '../support/change-stream.ts';
import { startQueueWorld } from '../support/queue-world.ts';

const { agents, changes, jobEvents, jobs } = endpoints;
const WATCHERS = 50;
/** Statements about jobs with which one browser reads a change of a job. */
const STATEMENTS_OF_ONE = 13;
const options = { timeout: 120_000 };

/** A running job, the open stream of one watcher, and tokens for many. */
async function setup(t: TestContext) {
  const h = await startQueueWorld(t);
  const { workspaceId, agentId } = h;
  const { jobId } = await h.enqueue();
  await h.claim({ leaseMs: 86_400_000 });
  const ref = { workspaceId, jobId };
  const url = `${h.hub.baseUrl}${changes.stream.path}?workspaceId=${workspaceId}`;
  const stream = await openStream(url, { authorization: `Bearer ${h.home.token}` });
  t.after(() => stream.leave());
  await stream.next();
  let logSeq = 0;
  const append = (message: string) =>
    h.call(jobEvents.append, { ...ref, agentId, entries: [{ logSeq: ++logSeq, message }] });
  const readAs = async (token: string) => {
    const [job, log, timeline] = await Promise.all([
      h.call(jobs.get, ref, token),
      h.call(jobs.log, { ...ref, limit: 1 }, token),
      h.call(jobEvents.listForJob, { ...ref, limit: 1 }, token),
    ]);
    const lines = [log.lines[0]?.text, timeline.events[0]?.message];
    return { status: job.job.status, lines };
  };
  return { ...h, ref, append, readAs };
}

/** Counts the statements about jobs that the hub reads with. */
function countReads(t: TestContext, { database }: Awaited<ReturnType<typeof setup>>['hub']) {
  let count = 0;
  const { reader } = database;
  for (const name of ['allSql', 'firstSql'] as const) {
    const run = reader[name];
    t.mock.method(reader, name, (sql: string, values: readonly SqlValue[]) => {
      if (/\b(jobs|job_\w+|queue_entries)\b/.test(sql)) count += 1;
      return run.call(reader, sql, values);
    });
  }
  return {
    take() {
      const taken = count;
      count = 0;
      return taken;
    },
  };
}

test('50 watchers of a job cost a few reads an output, and all see it', options, async (t) => {
  const h = await setup(t);
  const tokens = await Promise.all(
    Array.from({ length: WATCHERS }, (_, at) => h.mintToken(h.workspaceId, `watcher ${at}`)),
  );
  // A token is read once a second.
  await Promise.all(tokens.map((token) => h.readAs(token)));
  const reads = countReads(t, h.hub);
  for (let output = 1; output <= 5; output += 1) {
    const line = `output ${output}`;
    await h.append(`${line}\n`);
    reads.take();
    const seen = await Promise.all(tokens.map((token) => h.readAs(token)));
    for (const { status, lines } of seen) {
      assert.deepEqual({ status, lines }, { status: 'running', lines: [line, `${line}\n`] });
    }
    const made = reads.take();
    assert.ok(made <= 10 * STATEMENTS_OF_ONE, `${made} statements for ${WATCHERS} watchers`);
  }
});

test('a kept answer is not given to who may not see the job', options, async (t) => {
  const h = await setup(t);
  await h.append('secret\n');
  assert.deepEqual((await h.readAs(h.home.token)).lines, ['secret', 'secret\n']);
  const other = await h.addWorkspace('other');
  const narrow = await h.mintToken(h.workspaceId, 'narrow', ['integrate']);
  for (const { path } of [jobs.get, jobs.log, jobEvents.listForJob]) {
    const codeOf = async (body: object, token: string) =>
      (await h.send(path, body, token)).body.error;
    assert.equal(await codeOf(h.ref, other.token), 'WORKSPACE_NOT_FOUND');
    const own = { ...h.ref, workspaceId: other.workspaceId };
    assert.equal(await codeOf(own, other.token), 'JOB_NOT_FOUND');
    assert.equal(await codeOf(h.ref, narrow), 'NOT_ALLOWED');
  }
});

test('who was told of a change sees it at once, in every kept answer', options, async (t) => {
  const h = await setup(t);
  const { home, agentId, ref } = h;
  for (let round = 1; round <= 20; round += 1) {
    await h.append(`line ${round}\n`);
    assert.deepEqual((await h.readAs(home.token)).lines, [`line ${round}`, `line ${round}\n`]);
  }
  const before = (await h.call(jobs.get, ref)).job.leaseExpiresAt;
  h.clock.advance(1_000);
  await h.call(jobs.heartbeat, { ...ref, agentId, leaseMs: 86_400_000 });
  assert.notEqual((await h.call(jobs.get, ref)).job.leaseExpiresAt, before);
  assert.equal((await h.call(jobs.log, { ...ref, limit: 1 })).isEnded, false);
  await h.complete(ref.jobId);
  assert.equal((await h.readAs(home.token)).status, 'done');
  assert.equal((await h.call(jobs.log, { ...ref, limit: 1 })).isEnded, true);
});

test('why a job waits is never kept, since it depends on more than the job', options, async (t) => {
  const h = await setup(t);
  const { workspaceId } = h;
  const { jobId } = await h.enqueue();
  const reasonOf = async () => {
    const { waitingFor } = await h.call(jobs.get, { workspaceId, jobId });
    return waitingFor?.reason;
  };
  assert.equal(await reasonOf(), 'queue_position');
  await h.call(endpoints.queue.pause, { workspaceId });
  assert.equal(await reasonOf(), 'queue_paused');
});

test(
  'what depends on the agent or the reviews of a job with a commit is never kept',
  options,
  async (t) => {
    const h = await setup(t);
    const { workspaceId, repoId, agentId, ref } = h;
    const commits = { baseSha: 'a'.repeat(40), commitSha: 'b'.repeat(40) };
    await h.call(jobs.complete, { ...ref, agentId, outcome: 'failed', evidence: commits });
    const read = () => h.call(jobs.get, ref);
    assert.equal((await read()).changesPlace?.onRequest, false);
    await h.call(agents.heartbeat, {
      workspaceId,
      displayName: 'first',
      machineFingerprint: 'first',
      capabilities: { canWrite: true, changesOnRequest: [repoId] },
    });
    assert.equal((await read()).changesPlace?.onRequest, true);
    h.clock.advance(AGENT_OFFLINE_AFTER_MS + 1);
    assert.equal((await read()).changesPlace?.agent.status, 'offline');
    const draft = { workspaceId, repoId, kind: 'pr_review', prompt: 'Look.' } as const;
    const { job } = await h.call(jobs.enqueue, { ...draft, reviewsJobId: ref.jobId });
    assert.deepEqual((await read()).reviews, [{ jobId: job.jobId, status: 'pending' }]);
  },
);
