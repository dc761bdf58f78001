import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import type { Tx } from '../../src/db/engine.ts';
import { LANES_MAX, LaneBook } from '../../src/queue/lane-book.ts';
import { REQUIREMENTS_BYTES_MAX } from '../../src/queue/matching.ts';
import { readEntry, readLaneHeads } from '../../src/queue/store.ts';
import { deleteEmptyLanes, listIdleLanes } from '../../src/queue/store-lanes.ts';
import { startQueueWorld } from '../support/queue-world.ts';

const { agents, jobs } = endpoints;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const labelled = (name: string, value = 'v') => ({ labels: { [name]: value } });
const manyLabels = (count: number) => ({
  labels: Object.fromEntries(Array.from({ length: count }, (_, at) => [`l${at}`, 'v'])),
});

test('labels are bounded in number, name and value, and requirements in size', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  const job = { workspaceId, repoId, kind: 'work' as const, prompt: 'x' };
  for (const requirements of [
    manyLabels(33),
    labelled('n'.repeat(65)),
    labelled(''),
    labelled('name', 'v'.repeat(201)),
    { models: Array.from({ length: 30 }, (_, at) => `${at}${'m'.repeat(100)}`) },
    JSON.stringify({ models: Array.from({ length: 30 }, (_, at) => `${at}${'m'.repeat(100)}`) }),
  ]) {
    const { details } = await h.refuse(jobs.enqueue, { ...job, requirements }, 'INVALID_REQUEST');
    assert.match(details?.[0]?.path ?? '', /^\/requirements/);
  }
  await h.enqueue({ requirements: manyLabels(32) });
  await h.enqueue({ requirements: labelled('n'.repeat(64), 'v'.repeat(200)) });
  const machine = { workspaceId, machineFingerprint: 'm' };
  const refused = (capabilities: object) =>
    h.refuse(agents.heartbeat, { ...machine, capabilities }, 'INVALID_REQUEST');
  await refused(manyLabels(33));
  await refused({ more: 'x'.repeat(70_000) });
  await h.call(agents.heartbeat, { ...machine, capabilities: manyLabels(32) });
});

/** Notes the statements that are run by an action. */
function createCountingTx() {
  const statements: string[] = [];
  const counting = (tx: Tx): Tx =>
    new Proxy(tx, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...values: unknown[]) => {
          if (typeof values[0] === 'string') statements.push(values[0]);
          return Reflect.apply(value, target, values);
        };
      },
    });
  return { statements, counting };
}

/** Enqueues a job in each of many lanes, and returns their ids. */
async function fillLanes(h: Awaited<ReturnType<typeof startQueueWorld>>, count: number) {
  const jobIds: string[] = [];
  for (let at = 0; at < count; at += 50) {
    const piece = Array.from({ length: Math.min(50, count - at) }, (_, n) =>
      h.enqueue({ requirements: labelled('ticket', `t${at + n}`) }),
    );
    for (const { jobId } of await Promise.all(piece)) jobIds.push(jobId);
  }
  return jobIds;
}

test('a repository has a bounded number of lanes in use, and frees those of ended jobs', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  const jobIds = await fillLanes(h, LANES_MAX);
  const job = { workspaceId, repoId, kind: 'work' as const, prompt: 'x' };
  const further = { ...job, requirements: labelled('ticket', 'one too many') };
  const { message } = await h.refuse(jobs.enqueue, further, 'LIMIT_REACHED');
  assert.match(message, /fewer labels/);
  await h.enqueue({ requirements: labelled('ticket', 't1') });
  const { jobId: plain } = await h.enqueue();
  assert.equal((await h.claim()).jobId, plain, 'a job without labels is accepted and claimed');
  const other = await h.addRepository(h.home, 'other');
  await h.call(jobs.enqueue, { ...further, repoId: other });
  for (const jobId of jobIds.slice(2, 4)) await h.call(jobs.cancel, { workspaceId, jobId });
  await h.refuse(jobs.enqueue, further, 'LIMIT_REACHED');
  h.clock.advance(11 * MINUTE_MS);
  await h.call(jobs.enqueue, further);
});

test('a refused lane costs no look at all lanes, and a claim one statement for all heads', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId, hub } = h;
  await fillLanes(h, LANES_MAX);
  const { statements, counting } = createCountingTx();
  const book = new LaneBook();
  const use = (ticket: string) =>
    hub.database.write(workspaceId, (tx) => {
      const requirements = JSON.stringify(labelled('ticket', ticket));
      const spec = { queue: 'jobs', repoId, kind: 'work', requirements } as const;
      return book.use(counting(tx), workspaceId, spec);
    });
  await assert.rejects(use('new 1'), { code: 'LIMIT_REACHED' });
  assert.ok(statements.length > 1);
  statements.length = 0;
  await assert.rejects(use('new 2'), { code: 'LIMIT_REACHED' });
  assert.equal(statements.length, 1, 'only the lane itself is read');
  statements.length = 0;
  const lanes = await hub.database.reader.allSql<{ lane_id: string }>(
    'SELECT lane_id FROM queue_lanes WHERE workspace_id = ?',
    [workspaceId],
  );
  const laneIds = lanes.map(({ lane_id }) => lane_id);
  const heads = await hub.database.write(workspaceId, (tx) =>
    readLaneHeads(counting(tx), workspaceId, laneIds),
  );
  assert.equal(heads.length, LANES_MAX);
  const claimed = await hub.database.write(workspaceId, (tx) =>
    hub.deps.queue.claim(counting(tx), workspaceId, laneIds, () => ({
      agentId: h.agentId,
      leaseMs: 60_000,
      claimKey: null,
      jobTokenHash: 'none',
    })),
  );
  assert.equal(claimed?.status, 'running');
  assert.ok(statements.length < 10, `${statements.length} statements for ${LANES_MAX} lanes`);
});

test('with all lanes in use, a retry may use an active lane, and a lost lease an idle one', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId, hub } = h;
  const [first, second] = await fillLanes(h, LANES_MAX);
  const useAgain = (jobId: string | undefined, isBounded: boolean) =>
    hub.database.write(workspaceId, async (tx) => {
      const entry = await readEntry(tx, workspaceId, String(jobId));
      assert.ok(entry);
      await new LaneBook().useAgain(tx, entry, { isBounded });
    });
  await hub.database.write(workspaceId, (tx) =>
    tx.runSql(
      `UPDATE queue_lanes SET idle = 1 WHERE workspace_id = ? AND lane_id =
         (SELECT lane_id FROM queue_entries WHERE entry_id = ?)`,
      [workspaceId, String(first)],
    ),
  );
  const job = { workspaceId, repoId, kind: 'work' as const, prompt: 'x' };
  await h.call(jobs.enqueue, { ...job, requirements: labelled('ticket', 'the last one') });
  await useAgain(second, true);
  await assert.rejects(useAgain(first, true), { code: 'LIMIT_REACHED' });
  await useAgain(first, false);
});

test('a lane without open jobs becomes idle, and a retry makes it active again', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId } = h;
  for (const loop of Object.values(h.hub.loops)) await loop.stop();
  const capabilities = { canWrite: true, labels: { gpu: 'yes' } };
  const agentId = await h.addAgent(h.home, 'with gpu', capabilities);
  const { jobId } = await h.enqueue({ requirements: labelled('gpu', 'yes'), maxAttempts: 1 });
  await h.claim({ agentId });
  await h.complete(jobId, { agentId, outcome: 'failed' });
  const countActive = async () => {
    const lanes = await h.hub.database.reader.allSql<{ idle: number }>(
      'SELECT idle FROM queue_lanes WHERE workspace_id = ?',
      [workspaceId],
    );
    return { lanes: lanes.length, active: lanes.filter(({ idle }) => idle === 0).length };
  };
  const { jobId: open } = await h.enqueue();
  h.clock.advance(DAY_MS + 1);
  await h.hub.loops.jobRetention.runOnce();
  assert.deepEqual(await countActive(), { lanes: 2, active: 1 }, 'one has an open job');
  const first = { workspace_id: '', lane_id: '' };
  const idle = await listIdleLanes(h.hub.database.reader, first, 10);
  assert.deepEqual(
    idle.map((lane) => lane.has_entry),
    [1],
    'a lane with an ended job is not tried for deletion',
  );
  await h.hub.database.write(workspaceId, async (tx) => {
    const { lane_id: laneId } = (await readEntry(tx, workspaceId, jobId)) ?? {};
    await deleteEmptyLanes(tx, workspaceId, [String(laneId)]);
  });
  assert.deepEqual(await countActive(), { lanes: 2, active: 1 }, 'one has an ended job');
  await h.addAgent(h.home, 'with gpu', capabilities);
  assert.equal((await h.claim({ agentId })).jobId, open);
  await h.call(jobs.retry, { workspaceId, jobId });
  assert.deepEqual(await countActive(), { lanes: 2, active: 2 });
  assert.equal((await h.claim({ agentId })).jobId, jobId);
});

test('requirements longer than the limit, of an older version, suit no agent and are not read', async (t) => {
  const h = await startQueueWorld(t);
  const { jobId } = await h.enqueue({ requirements: labelled('gpu', 'yes') });
  const tooLong = JSON.stringify(labelled('gpu', 'y'.repeat(REQUIREMENTS_BYTES_MAX)));
  await h.hub.database.write(h.workspaceId, (tx) =>
    tx.runSql('UPDATE queue_lanes SET requirements = ? WHERE workspace_id = ?', [
      tooLong,
      h.workspaceId,
    ]),
  );
  await h.hub.database.write(h.workspaceId, (tx) =>
    tx.runSql(`UPDATE queue_lanes SET lane_id = 'old' WHERE workspace_id = ?`, [h.workspaceId]),
  );
  await h.hub.database.write(h.workspaceId, (tx) =>
    tx.runSql(`UPDATE queue_entries SET lane_id = 'old' WHERE entry_id = ?`, [jobId]),
  );
  assert.equal((await h.claim()).reason, 'no_matching_capabilities');
  await h.call(jobs.cancel, { workspaceId: h.workspaceId, jobId });
  assert.equal((await h.claim()).reason, 'no_pending_jobs');
});

test('requirements of just the limit are read again, and suit who meets them', async (t) => {
  const h = await startQueueWorld(t);
  const requirements = labelled('gpu', 'yes');
  await h.enqueue({ requirements });
  const padded = JSON.stringify(requirements).padEnd(REQUIREMENTS_BYTES_MAX);
  const lanesOf = async (text: string) => {
    await h.hub.database.write(h.workspaceId, (tx) =>
      tx.runSql('UPDATE queue_lanes SET requirements = ?', [text]),
    );
    const repoIds = new Set([h.repoId]);
    const demand = { queue: 'jobs', repoIds, kinds: null, capabilities: {} } as const;
    return new LaneBook().listActive(h.hub.database.reader, h.workspaceId, demand);
  };
  assert.notEqual((await lanesOf(padded))[0]?.needs, null);
  assert.equal((await lanesOf(`${padded} `))[0]?.needs, null);
});

test('a list by repository and status is whole when there are many lanes', async (t) => {
  const h = await startQueueWorld(t);
  const { workspaceId, repoId } = h;
  const jobIds = await fillLanes(h, 120);
  await h.enqueue({ kind: 'pr_review' });
  const filter = { workspaceId, repoId, kind: 'work', status: 'pending', limit: 200 } as const;
  const { jobs: listed, nextCursor } = await h.call(jobs.list, filter);
  assert.deepEqual(listed.map((job) => job.jobId).sort(), jobIds.sort());
  assert.equal(nextCursor, null);
});
