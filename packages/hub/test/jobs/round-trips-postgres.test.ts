import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../src/db/engine.ts';
import { startQueueWorld } from '../support/queue-world.ts';

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

test('the calls of a job’s life ask for their statements in few round trips', async (t) => {
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
