import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import pg from 'pg';
import { startQueueWorld } from '../support/queue-world.ts';

const { agents, jobEvents, jobs } = endpoints;

/*
 * A call waits for few answers of the database. Each costs a turn of the event loop, which is long
 * when the hub is busy. BEGIN and COMMIT count.
 */

/** Counts how often a transaction that begins from now on waits for answers. */
function countTrips(t: TestContext): () => number {
  const trips = new Map<pg.Client, { count: number; hasAnswer: boolean }>();
  const { query } = pg.Client.prototype;
  const counted = function (this: pg.Client, ...values: unknown[]): unknown {
    const isBegin = typeof values[0] === 'string' && values[0].startsWith('BEGIN');
    if (isBegin) trips.set(this, { count: 0, hasAnswer: true });
    const trip = trips.get(this);
    if (trip?.hasAnswer === true) {
      trip.count += 1;
      trip.hasAnswer = false;
    }
    // The hub awaits promises only.
    const answer = Reflect.apply(query, this, values) as unknown as Promise<unknown>;
    return answer.finally(() => {
      if (trip !== undefined) trip.hasAnswer = true;
    });
  };
  const mock = t.mock.method(pg.Client.prototype, 'query', counted as typeof query);
  return () => {
    mock.mock.restore();
    return Array.from(trips.values(), ({ count }) => count).reduce((sum, count) => sum + count, 0);
  };
}

/** A workspace with an agent, and a counter of the round trips of what a call writes. */
async function startCounted(t: TestContext) {
  const h = await startQueueWorld(t);
  // The first job of its kind makes its lane.
  await h.enqueue();
  await h.claim();
  const tripsOf = async (call: () => Promise<unknown>) => {
    const end = countTrips(t);
    await call();
    return end();
  };
  return { ...h, tripsOf };
}

test('the calls of a job’s life wait for few answers of the database', async (t) => {
  const { tripsOf, ...h } = await startCounted(t);
  assert.equal(await tripsOf(() => h.enqueue()), 2, 'the repository; the rows and COMMIT');
  let claimed: string | null = null;
  const claims = await tripsOf(async () => {
    ({ jobId: claimed } = await h.claim());
  });
  assert.equal(claims, 4, 'the agent, its repositories and lanes; an entry; its job; COMMIT');
  assert.ok(claimed !== null);
  const held = { workspaceId: h.workspaceId, agentId: h.agentId, jobId: String(claimed) };
  const renew = () => h.call(jobs.heartbeat, held);
  await renew();
  assert.equal(await tripsOf(renew), 2, 'the job; the rows and COMMIT');
  let logSeq = 0;
  const append = () => {
    logSeq += 1;
    const entries = [{ logSeq, message: 'Hello.', stream: 'stdout' as const }];
    return h.call(jobEvents.append, { ...held, entries });
  };
  await append();
  assert.equal(await tripsOf(append), 3, 'the job; its log; the event and COMMIT');
  assert.equal(await tripsOf(() => h.complete(held.jobId)), 2, 'the job; the rows and COMMIT');
  // The first one also looks for expired leases.
  await h.claim();
  assert.equal(await tripsOf(() => h.claim()), 4, 'the agent; no entry; none pending; COMMIT');
});

test('a report waits less often than its parts, in one transaction instead of three', async (t) => {
  const { tripsOf, workspaceId, agentId, ...h } = await startCounted(t);
  await h.enqueue();
  const jobId = (await h.claim()).jobId ?? '';
  const held = { workspaceId, agentId, jobId };
  const machine = { machineFingerprint: 'first' };
  let logSeq = 0;
  const entries = () => [{ logSeq: ++logSeq, message: 'ok' }];
  // The first of each makes rows that the others change.
  const sendParts = async () => [
    await tripsOf(() => h.call(agents.heartbeat, { workspaceId, ...machine })),
    await tripsOf(() => h.call(jobs.heartbeat, held)),
    await tripsOf(() => h.call(jobEvents.append, { ...held, entries: entries() })),
  ];
  await sendParts();
  const parts = await sendParts();
  const report = {
    workspaceId,
    agentId,
    heartbeat: machine,
    renewals: [{ jobId }],
    outputs: [{ jobId, entries: entries() }],
  };
  const together = await tripsOf(() => h.call(agents.report, report));
  assert.deepEqual(parts, [4, 2, 3], 'a heartbeat, a renewal, output');
  assert.equal(together, 8, 'one transaction instead of three');
});
