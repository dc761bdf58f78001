import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import type { Tx } from '../../src/db/engine.ts';
import { startQueueWorld } from '../support/queue-world.ts';

const { agents, jobEvents, jobs } = endpoints;

/*
 * Statements that an action asks for together are one round trip. It costs more than a statement.
 */

const asking = ['all', 'first', 'run', 'allSql', 'firstSql', 'runSql', 'runBatched'];

/** The same transaction; `onTrip` is called once for the statements that are asked for together. */
function countTrips(tx: Tx, onTrip: () => void): Tx {
  let trip: Promise<void> | null = null;
  return new Proxy(tx, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (!asking.includes(String(name))) return member.bind(target);
      return async (...values: unknown[]) => {
        if (trip === null) {
          onTrip();
          trip = new Promise((resolve) => setImmediate(resolve)).then(() => {
            trip = null;
          });
        }
        await trip;
        return member.apply(target, values);
      };
    },
  });
}

/** A workspace with an agent, and a counter of the round trips of what a call writes. */
async function startCounted(t: TestContext) {
  const h = await startQueueWorld(t);
  // The first job of its kind makes its lane.
  await h.enqueue();
  await h.claim();
  let trips = 0;
  const { database } = h.hub;
  const write = database.writeConcurrent;
  t.mock.method(database, 'writeConcurrent', ((scope, action) =>
    write(scope, (tx) => action(countTrips(tx, () => trips++)))) as typeof write);
  const tripsOf = async (call: () => Promise<unknown>) => {
    trips = 0;
    await call();
    return trips;
  };
  return { ...h, tripsOf };
}

test('the calls of a job’s life ask for their statements in few round trips', async (t) => {
  const { tripsOf, ...h } = await startCounted(t);
  assert.equal(await tripsOf(() => h.enqueue()), 2, 'the repository; the job');
  let jobId: string | null = null;
  const claims = await tripsOf(async () => {
    ({ jobId } = await h.claim());
  });
  assert.ok(jobId !== null);
  assert.ok(claims <= 6, `a claim took ${claims}`);
  const completed = jobId;
  assert.equal(await tripsOf(() => h.complete(completed)), 3, 'the job; its end; its questions');
});

test('a report asks for one round trip more than its parts, in one transaction instead of three', async (t) => {
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
    ...{ workspaceId, agentId, heartbeat: machine, renewals: [{ jobId }] },
    outputs: [{ jobId, entries: entries() }],
  };
  const together = await tripsOf(() => h.call(agents.report, report));
  assert.deepEqual(parts, [3, 3, 3], 'a heartbeat, a renewal, output; without BEGIN and COMMIT');
  assert.equal(together, 10, 'and whose the agent is, in one transaction');
});
