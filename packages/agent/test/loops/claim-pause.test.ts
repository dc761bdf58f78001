import assert from 'node:assert/strict';
import test from 'node:test';
import type { Clock } from '../../src/clock.ts';
import { loginOf, type ToolAccount } from '../../src/executors/tool-account.ts';
import {
  type ClaimPauses,
  createClaimPauses,
  type PauseState,
} from '../../src/loops/claim-pause.ts';

const limit = { code: 'usage_limit', summary: 'You have hit your weekly limit' } as const;
const busy = { code: 'provider_busy', summary: 'Overloaded' } as const;
const MINUTE_MS = 60_000;
const account: ToolAccount = { tool: 'claude', login: 'a', model: '' };

interface Setup {
  pauses: ClaimPauses;
  changes: (PauseState | null)[];
  /** Moves the clock on. */
  pass(ms: number): Promise<void>;
  now(): number;
}

/** Pauses with a clock that moves when the test says so. */
function setUp(random = 0): Setup {
  const changes: (PauseState | null)[] = [];
  let nowMs = 0;
  let sleeps: { atMs: number; resolve: () => void }[] = [];
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms) =>
      new Promise((resolve) => void sleeps.push({ atMs: nowMs + ms, resolve: () => resolve() })),
  };
  const pauses = createClaimPauses({
    clock,
    random: () => random,
    onChange: (state) => void changes.push(state),
    onClaimable() {},
  });
  return {
    pauses,
    changes,
    now: () => nowMs,
    async pass(ms) {
      const endMs = nowMs + ms;
      for (;;) {
        const due = sleeps.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
        if (due === undefined) break;
        nowMs = due.atMs;
        sleeps = sleeps.filter((one) => one !== due);
        due.resolve();
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      }
      nowMs = endMs;
    },
  };
}

test('a usage limit stops the claims, once for all jobs that met it', async () => {
  const { pauses, changes, pass } = setUp();
  pauses.begin(limit, account);
  pauses.begin(limit, account);
  const { code, summary: message } = limit;
  assert.deepEqual(changes, [
    { code, message, untilMs: 5 * MINUTE_MS, tool: 'claude', model: null },
  ]);
  assert.equal(pauses.mayClaim(account, []), false);
  await pass(5 * MINUTE_MS);
  assert.deepEqual(pauses.states(), []);
  assert.equal(changes.length, 2);
});

test('a pause lasts until the limit is reset, with a bounded jitter', async () => {
  const { pauses, changes, pass } = setUp(1);
  const resetsAtMs = 180 * MINUTE_MS;
  assert.equal(pauses.begin({ ...limit, resetsAtMs }, account), resetsAtMs + MINUTE_MS);
  assert.equal(changes[0]?.untilMs, resetsAtMs + MINUTE_MS);
  await pass(resetsAtMs);
  assert.equal(pauses.mayClaim(account, []), false);
  await pass(MINUTE_MS);
  assert.equal(pauses.mayClaim(account, []), true);
});

test('a reset that is over, or years away, is not believed', () => {
  const { pauses } = setUp();
  assert.equal(pauses.begin({ ...limit, resetsAtMs: -1 }, account), 5 * MINUTE_MS);
  const other = { ...account, login: 'b' };
  const days = pauses.begin({ ...limit, resetsAtMs: 1e13 }, other) / (24 * 60 * MINUTE_MS);
  assert.equal(days, 8);
});

test('after a pause one job is claimed, beside those from before, until the model answers', async () => {
  const { pauses, pass, now } = setUp();
  const older = { account, begunMs: -1 };
  pauses.begin(limit, account);
  await pass(5 * MINUTE_MS);
  assert.equal(pauses.mayClaim(account, [older]), true);
  const probe = { account, begunMs: now() };
  assert.equal(pauses.mayClaim(account, [older, probe]), false);
  pauses.end(probe);
  assert.equal(pauses.mayClaim(account, [older, probe]), true);
});

test('only a job that began after the pause ends it', async () => {
  const { pauses, changes, pass, now } = setUp();
  const older = { account, begunMs: now() };
  await pass(1_000);
  pauses.begin(limit, account);
  pauses.end(older);
  assert.equal(pauses.mayClaim(account, []), false);
  assert.equal(changes.length, 1);
  await pass(1_000);
  pauses.end({ account, begunMs: now() });
  assert.equal(pauses.mayClaim(account, []), true);
  assert.deepEqual(changes.at(-1), null);
});

test('an account is paused by its tool and login, and by its model if only that is limited', () => {
  const { pauses } = setUp();
  const opus = { ...account, model: 'opus' };
  const others = [
    { ...account, tool: 'codex' },
    { ...account, login: 'b' },
  ];
  pauses.begin({ ...limit, isOfModel: true }, opus);
  assert.equal(pauses.mayClaim(opus, []), false);
  assert.equal(pauses.mayClaim(account, []), true);
  pauses.begin(limit, opus);
  assert.equal(pauses.mayClaim(account, []), false);
  for (const other of others) assert.equal(pauses.mayClaim(other, []), true);
});

test('a provider that is busy pauses the model, and no other', () => {
  const { pauses } = setUp();
  pauses.begin(busy, { ...account, model: 'opus' });
  assert.equal(pauses.mayClaim({ ...account, model: 'opus' }, []), false);
  assert.equal(pauses.mayClaim({ ...account, model: 'sonnet' }, []), true);
});

test('a later reset makes a pause longer', () => {
  const { pauses } = setUp();
  pauses.begin(limit, account);
  pauses.begin({ ...limit, resetsAtMs: 60 * MINUTE_MS }, account);
  assert.equal(pauses.stateOf(account)?.untilMs, 60 * MINUTE_MS);
});

test('each further pause is twice as long, up to a limit, until the model answers', async () => {
  const { pauses, pass, now } = setUp();
  const lengths: number[] = [];
  for (let time = 0; time < 5; time++) {
    const ms = pauses.begin(limit, account);
    lengths.push(ms);
    await pass(ms);
  }
  pauses.end({ account, begunMs: now() });
  lengths.push(pauses.begin(limit, account));
  assert.deepEqual(
    lengths.map((ms) => ms / MINUTE_MS),
    [5, 10, 20, 30, 30, 5],
  );
});

test('a failure of the job itself pauses nothing', () => {
  const { pauses, changes } = setUp();
  assert.equal(pauses.begin({ code: 'max_turns', summary: 'Reached the maximum' }, account), 0);
  assert.equal(pauses.mayClaim(account, []), true);
  assert.deepEqual(changes, []);
});

test('an agent that leaves says nothing about its pause', async () => {
  const { pauses, changes, pass } = setUp();
  pauses.begin(limit, account);
  pauses.stop();
  await pass(10 * MINUTE_MS);
  assert.equal(changes.length, 1);
});

test('a login is named by the variables of its tool and the home, and shows none of them', () => {
  const env = { HOME: '/home/ada', ANTHROPIC_API_KEY: 'sk-ant-1', OPENAI_API_KEY: 'sk-1' };
  const login = loginOf('claude', env);
  assert.equal(loginOf('claude', { ...env, OPENAI_API_KEY: 'sk-2', PATH: '/bin' }), login);
  for (const other of [
    { ANTHROPIC_API_KEY: 'sk-ant-2' },
    { CLAUDE_CONFIG_DIR: '/srv/team' },
    { HOME: '/home/ben' },
  ]) {
    assert.notEqual(loginOf('claude', { ...env, ...other }), login);
  }
  assert.match(login, /^[0-9a-f]{16}$/);
});
