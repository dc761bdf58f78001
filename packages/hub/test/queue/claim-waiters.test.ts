import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClaimWaiter, ClaimWaiters } from '../../src/queue/claim-waiters.ts';
import { createManualClock } from '../support/manual-clock.ts';

const WAIT_MS = 60_000;

function setupWaiters() {
  const clock = createManualClock();
  const waiters = new ClaimWaiters(clock);
  const never = new AbortController().signal;
  const woken: string[] = [];
  const park = (name: string, suits: ClaimWaiter['suits'] = () => true, signal = never) =>
    waiters
      .wait({ workspaceId: 'ws', agentId: name, suits }, waiters.version(), WAIT_MS, signal)
      .then((result) => {
        woken.push(name);
        return result;
      });
  return { clock, waiters, never, woken, park };
}

test('a ready job wakes the matching claim that has waited longest', async () => {
  const { waiters, woken, park } = setupWaiters();
  void park('unsuited', () => false);
  const first = park('first');
  void park('second');
  waiters.wakeNext('ws', 'lane');
  assert.deepEqual(await first, { laneId: 'lane' });
  assert.deepEqual(woken, ['first']);
  assert.equal(waiters.count, 2);
});

test('a job of another workspace wakes no claim', async () => {
  const { waiters, woken, park } = setupWaiters();
  void park('first');
  waiters.wakeNext('other', 'lane');
  await Promise.resolve();
  assert.deepEqual(woken, []);
});

test('a job that becomes ready between the mark and the wait ends the wait at once', async () => {
  const { waiters, never } = setupWaiters();
  const version = waiters.version();
  waiters.wakeNext('ws', 'lane');
  const waiter = { workspaceId: 'ws', agentId: 'a', suits: (laneId: string) => laneId === 'lane' };
  assert.deepEqual(await waiters.wait(waiter, version, WAIT_MS, never), { laneId: 'lane' });
});

test('of many claims that looked before a job became ready and wait after it, one looks again', async () => {
  const { waiters, never } = setupWaiters();
  const version = waiters.version();
  const waitAs = (agentId: string) =>
    waiters.wait({ workspaceId: 'ws', agentId, suits: () => true }, version, WAIT_MS, never);
  waiters.wakeNext('ws', 'lane');
  waiters.wakeNext('ws', 'lane');
  assert.deepEqual(await waitAs('first'), { laneId: 'lane' });
  assert.deepEqual(await waitAs('second'), { laneId: 'lane' });
  const third = waitAs('third');
  assert.equal(waiters.count, 1);
  // The claim did not get the job after all, and the job goes to the claim that waits now.
  waiters.wakeNext('ws', 'lane');
  assert.deepEqual(await third, { laneId: 'lane' });
});

test('jobs that were taken without a wait make no claim look again for later ones', async () => {
  const { waiters, never } = setupWaiters();
  for (let taken = 0; taken < 3_000; taken++) waiters.wakeNext('ws', 'lane');
  const version = waiters.version();
  const waitAs = (agentId: string) =>
    waiters.wait({ workspaceId: 'ws', agentId, suits: () => true }, version, WAIT_MS, never);
  waiters.wakeNext('ws', 'lane');
  const waits = Array.from({ length: 20 }, (_none, at) => waitAs(`agent ${at}`));
  assert.equal(waiters.count, 19);
  assert.deepEqual(await waits[0], { laneId: 'lane' });
  waiters.close();
  await Promise.all(waits);
});

test('no claim misses a wake, however many jobs of a lane become ready during one try', async () => {
  const { waiters, never } = setupWaiters();
  const version = waiters.version();
  for (let ready = 0; ready < 3_000; ready++) waiters.wakeNext('ws', 'lane');
  const waits = Array.from({ length: 2_000 }, (_none, at) =>
    waiters.wait(
      { workspaceId: 'ws', agentId: `agent ${at}`, suits: () => true },
      version,
      WAIT_MS,
      never,
    ),
  );
  assert.equal(waiters.count, 0);
  await Promise.all(waits);
});

test('a job that woke a waiting claim makes no other claim look for it', async () => {
  const { waiters, never, park } = setupWaiters();
  const first = park('first');
  const version = waiters.version();
  waiters.wakeNext('ws', 'lane');
  assert.deepEqual(await first, { laneId: 'lane' });
  const late = { workspaceId: 'ws', agentId: 'late', suits: () => true };
  void waiters.wait(late, version, WAIT_MS, never);
  assert.equal(waiters.count, 1);
});

test('a job that becomes ready in a lane that does not match does not end the wait', async () => {
  const { waiters, never } = setupWaiters();
  const version = waiters.version();
  waiters.wakeNext('ws', 'elsewhere');
  const waiter = { workspaceId: 'ws', agentId: 'a', suits: (laneId: string) => laneId === 'lane' };
  const waiting = waiters.wait(waiter, version, WAIT_MS, never);
  assert.equal(waiters.count, 1);
  waiters.wakeNext('ws', 'lane');
  assert.deepEqual(await waiting, { laneId: 'lane' });
});

test('more wakes than the waiters remember count as a wake', async () => {
  const { waiters, never } = setupWaiters();
  const version = waiters.version();
  for (let i = 0; i < 1_000; i++) waiters.wakeNext('ws', `elsewhere ${i}`);
  const waiter = { workspaceId: 'ws', agentId: 'a', suits: () => false };
  assert.deepEqual(await waiters.wait(waiter, version, WAIT_MS, never), { laneId: null });
});

test('a wait ends with its timeout, its client and its hub, and leaves nothing behind', async () => {
  const { clock, waiters, park } = setupWaiters();
  const timed = park('timed');
  clock.advance(WAIT_MS);
  assert.equal(await timed, 'timeout');
  const controller = new AbortController();
  const aborted = park('aborted', () => true, controller.signal);
  controller.abort();
  assert.equal(await aborted, 'timeout');
  const stopped = park('stopped');
  waiters.close();
  await stopped;
  assert.equal(await park('late'), 'timeout');
  assert.equal(waiters.count, 0);
});

test('a change of an agent wakes only its own claims', async () => {
  const { waiters, woken, park } = setupWaiters();
  void park('other');
  const own = park('own');
  waiters.wakeAgent('ws', 'own');
  await own;
  assert.deepEqual(woken, ['own']);
});
