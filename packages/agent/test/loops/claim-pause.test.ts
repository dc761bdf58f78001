import assert from 'node:assert/strict';
import test from 'node:test';
import type { Clock } from '../../src/clock.ts';
import { type ClaimPause, createClaimPause, type PauseState } from '../../src/loops/claim-pause.ts';

const limit = { code: 'usage_limit', summary: 'You have hit your weekly limit' } as const;
const MINUTE_MS = 60_000;

/** A pause with a clock that moves when the test says so. */
function setUp(): { pause: ClaimPause; changes: (PauseState | null)[]; wake(): Promise<void> } {
  const changes: (PauseState | null)[] = [];
  const sleeps: (() => void)[] = [];
  const clock: Clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    sleep: () => new Promise((resolve) => void sleeps.push(resolve)),
  };
  const onChange = (state: PauseState | null) => void changes.push(state);
  const pause = createClaimPause({ clock, random: () => 0, onChange });
  return {
    ...{ pause, changes },
    async wake() {
      for (const resolve of sleeps.splice(0)) resolve();
      await Promise.resolve();
    },
  };
}

test('a usage limit stops the claims, once for all jobs that met it', async () => {
  const { pause, changes, wake } = setUp();
  pause.begin(limit);
  pause.begin(limit);
  assert.deepEqual(changes, [
    { code: 'usage_limit', message: limit.summary, untilMs: 5 * MINUTE_MS },
  ]);
  await wake();
  assert.equal(pause.state(), null);
  assert.equal(changes.length, 2);
});

test('after a pause one slot is filled until the model answers', async () => {
  const { pause, wake } = setUp();
  assert.equal(pause.slots(3), 3);
  pause.begin(limit);
  await wake();
  assert.equal(pause.slots(3), 1);
  pause.end();
  assert.equal(pause.slots(3), 3);
});

test('each further pause is twice as long, up to a limit, until the model answers', async () => {
  const { pause, changes, wake } = setUp();
  for (let time = 0; time < 5; time++) {
    pause.begin(limit);
    await wake();
  }
  pause.end();
  pause.begin(limit);
  const lengths = changes.filter((state) => state !== null).map(({ untilMs }) => untilMs);
  assert.deepEqual(
    lengths.map((ms) => ms / MINUTE_MS),
    [5, 10, 20, 30, 30, 5],
  );
});

test('a failure of the job itself pauses nothing', () => {
  const { pause, changes } = setUp();
  pause.begin({ code: 'max_turns', summary: 'Reached the maximum of turns' });
  assert.equal(pause.state(), null);
  assert.deepEqual(changes, []);
});

test('an agent that leaves says nothing about its pause', async () => {
  const { pause, changes, wake } = setUp();
  pause.begin(limit);
  pause.stop();
  await wake();
  assert.equal(changes.length, 1);
});
