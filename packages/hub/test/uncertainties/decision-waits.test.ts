import assert from 'node:assert/strict';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { DecisionWaiters } from '../../src/uncertainties/decision-waiters.ts';
import { startDecisionWorld } from '../support/decision-world.ts';
import { createManualClock } from '../support/manual-clock.ts';

const { uncertainties } = endpoints;
const WAIT_MS = 60_000;

async function setupWaits(t: TestContext) {
  const h = await startDecisionWorld(t);
  const { uncertaintyId } = await h.ask();
  const body = { workspaceId: h.workspaceId, uncertaintyId, waitMs: WAIT_MS };
  const wait = () => h.call(uncertainties.wait, body);
  const { decisionWaiters } = h.hub.deps;
  /** Resolves once so many wait; each turn lets the hub's own work run. */
  async function untilParked(count: number): Promise<void> {
    while (decisionWaiters.count !== count) await new Promise((resolve) => setImmediate(resolve));
  }
  return { ...h, uncertaintyId, body, wait, untilParked };
}

test('an answer on one connection ends all waits on others', async (t) => {
  const h = await setupWaits(t);
  const waiting = Array.from({ length: 20 }, () => h.wait());
  await h.untilParked(20);
  await h.answer(h.uncertaintyId);
  for (const { uncertainty } of await Promise.all(waiting)) {
    assert.deepEqual([uncertainty.status, uncertainty.resolution?.value], ['resolved', 'blue']);
  }
  await h.untilParked(0);
});

test('an answer that arrives just as the wait starts is not missed', async (t) => {
  const h = await setupWaits(t);
  for (let i = 0; i < 20; i++) {
    const { uncertaintyId } = await h.ask();
    const [waited] = await Promise.all([
      h.call(uncertainties.wait, { ...h.body, uncertaintyId }),
      h.answer(uncertaintyId),
    ]);
    assert.equal(waited.uncertainty.status, 'resolved');
  }
});

test('a wait times out with the request open, and returns at once when nothing is open', async (t) => {
  const h = await setupWaits(t);
  const waiting = h.wait();
  await h.untilParked(1);
  h.clock.advance(WAIT_MS);
  assert.equal((await waiting).uncertainty.status, 'open');
  const { uncertaintyId } = await h.ask({ confidence: 1 });
  const { uncertainty } = await h.call(uncertainties.wait, { ...h.body, uncertaintyId });
  assert.equal(uncertainty.status, 'assumed');
});

test('the deadline ends the waits', async (t) => {
  const h = await setupWaits(t);
  const deadlineAt = new Date(h.clock.nowMs() + 1_000).toISOString();
  const { uncertaintyId } = await h.ask({ deadlineAt, onDeadline: 'assume', assumedValue: 'red' });
  const waiting = h.call(uncertainties.wait, { ...h.body, uncertaintyId });
  await h.untilParked(1);
  // The loop's own timer runs it, not the test.
  h.clock.advance(1_000);
  assert.equal((await waiting).uncertainty.resolution?.value, 'red');
});

test('a client that disconnects stops waiting', async (t) => {
  const h = await setupWaits(t);
  const gone = request(h.hub.baseUrl + uncertainties.wait.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${h.home.token}` },
  });
  gone.on('error', () => undefined);
  gone.end(JSON.stringify(h.body));
  await h.untilParked(1);
  gone.destroy();
  await h.untilParked(0);
  assert.equal((await h.read(h.uncertaintyId)).status, 'open');
});

test('a stop answers the waiting clients', async (t) => {
  const h = await setupWaits(t);
  const waiting = h.wait();
  await h.untilParked(1);
  const stopped = h.hub.stop();
  assert.equal((await waiting).uncertainty.status, 'open');
  await stopped;
});

test('waiters of another question or workspace keep waiting, and none starts after the stop', async () => {
  const clock = createManualClock();
  const waiters = new DecisionWaiters(clock);
  const { signal } = new AbortController();
  const parked = waiters.park('ws', 'unc_1', WAIT_MS, signal);
  waiters.park('ws', 'unc_2', WAIT_MS, signal);
  waiters.park('other', 'unc_1', WAIT_MS, signal);
  waiters.wake('ws', 'unc_1');
  await parked.ended;
  assert.equal(waiters.count, 2);
  waiters.close();
  assert.equal(waiters.count, 0);
  await waiters.park('ws', 'unc_1', WAIT_MS, signal).ended;
});
