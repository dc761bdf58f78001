import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClaimWaiters } from '../../src/queue/claim-waiters.ts';
import { type ClaimAttempt, claimOrWait } from '../../src/queue/leased-work.ts';
import { createManualClock } from '../support/manual-clock.ts';

type Attempt = ClaimAttempt<string, 'empty'>;

/** Claims over scripted looks at the queue, because these tests are only about wakes. */
function setupClaims() {
  const clock = createManualClock();
  const waiters = new ClaimWaiters(clock);
  const claim = (
    agentId: string,
    looks: (() => Promise<Attempt>)[],
    signal = new AbortController().signal,
  ) =>
    claimOrWait(
      { waiters, clock },
      { workspaceId: 'ws', agentId, waitMs: 60_000, signal },
      () => looks.shift()?.() ?? Promise.reject(new Error(`${agentId} looked too often`)),
    );
  return { waiters, claim };
}

const empty =
  (...laneIds: string[]) =>
  async (): Promise<Attempt> => ({
    claimed: null,
    refusal: 'empty',
    suits: (laneId) => laneIds.includes(laneId),
  });

const taking = (claimed: string, laneId: string) => async (): Promise<Attempt> => ({
  claimed,
  laneId,
});

async function untilParked(waiters: ClaimWaiters, count: number): Promise<void> {
  while (waiters.count !== count) await new Promise((resolve) => setImmediate(resolve));
}

test('a claim woken for one lane that takes from another passes the wake on', async () => {
  const { waiters, claim } = setupClaims();
  const first = claim('first', [empty('a', 'b'), taking('better', 'b')]);
  const second = claim('second', [empty('a'), taking('left over', 'a')]);
  await untilParked(waiters, 2);
  waiters.wakeNext('ws', 'a');
  assert.deepEqual(
    [await first, await second],
    [
      { claimed: 'better', laneId: 'b' },
      { claimed: 'left over', laneId: 'a' },
    ],
  );
});

test('a claim woken for a lane that no longer matches it passes the wake on', async () => {
  const { waiters, claim } = setupClaims();
  const changed = claim('changed', [empty('a'), empty('b'), empty('b')]);
  const second = claim('second', [empty('a'), taking('left over', 'a')]);
  await untilParked(waiters, 2);
  waiters.wakeNext('ws', 'a');
  assert.deepEqual(await second, { claimed: 'left over', laneId: 'a' });
  waiters.close();
  assert.deepEqual(await changed, { claimed: null, refusal: 'empty' });
});

test('a claim that fails when it is woken passes the wake on', async () => {
  const { waiters, claim } = setupClaims();
  const failing = claim('failing', [empty('a'), () => Promise.reject(new Error('revoked'))]);
  const refused = assert.rejects(failing, /revoked/);
  const second = claim('second', [empty('a'), taking('left over', 'a')]);
  await untilParked(waiters, 2);
  waiters.wakeNext('ws', 'a');
  assert.deepEqual(await second, { claimed: 'left over', laneId: 'a' });
  await refused;
});

test('a claim whose client disconnects as it is woken takes nothing and passes the wake on', async () => {
  const { waiters, claim } = setupClaims();
  const client = new AbortController();
  const gone = claim('gone', [empty('a'), taking('lost', 'a')], client.signal);
  const second = claim('second', [empty('a'), taking('left over', 'a')]);
  await untilParked(waiters, 2);
  waiters.wakeNext('ws', 'a');
  client.abort();
  assert.deepEqual(await second, { claimed: 'left over', laneId: 'a' });
  assert.deepEqual(await gone, { claimed: null, refusal: 'empty' });
});
