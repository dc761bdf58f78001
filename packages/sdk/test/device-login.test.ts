import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DEVICE_SESSION_MS } from '@signalbox/contract';
import {
  ApiError,
  createClient,
  DeviceLoginError,
  type DeviceLoginOptions,
  nextPollStep,
  nextPollStepAfterError,
  runDeviceLogin,
  startDeviceLogin,
  UnreachableError,
} from '@signalbox/sdk';
import { type Answer, fail, loseReply, startHubStandIn, succeed } from './hub-stand-in.ts';

const TOKEN = 'sbx_d_00000000000000000000000000000000000000000000ABQhW';
const started = {
  deviceId: 'dev_1',
  deviceSecret: 'device-secret',
  approvalUrl: 'http://127.0.0.1:4400/device?id=dev_1',
  userCode: 'WDJB-MJHT',
  expiresAt: '2026-11-02T09:10:00.000Z',
  intervalMs: 5_000,
};
const approved = {
  status: 'approved',
  token: TOKEN,
  workspaceId: 'ws_1',
  workspaceSlug: 'acme',
} as const;
const pending = succeed({ status: 'pending', intervalMs: 5_000 });

/** Time passes only during waits, which are recorded. */
async function setUp(t: TestContext, polls: Answer[], options: Partial<DeviceLoginOptions> = {}) {
  const hub = await startHubStandIn(t, [succeed(started), ...polls]);
  const waitsMs: number[] = [];
  let nowMs = 0;
  const shown: unknown[] = [];
  const login = runDeviceLogin({
    client: createClient({ baseUrl: hub.baseUrl, maxAttempts: 1 }),
    workspaceSlug: 'acme',
    machineName: 'build-7',
    onCode: (code) => void shown.push(code),
    sleep: async (ms) => {
      waitsMs.push(ms);
      nowMs += ms;
    },
    nowMs: () => nowMs,
    ...options,
  });
  return { hub, login, waitsMs, shown };
}

test('a login shows the code, polls at the interval and returns the token', async (t) => {
  const { hub, login, waitsMs, shown } = await setUp(t, [pending, pending, succeed(approved)]);
  assert.deepEqual(await login, { token: TOKEN, workspaceId: 'ws_1', workspaceSlug: 'acme' });
  const { userCode, approvalUrl, expiresAt } = started;
  assert.deepEqual(shown, [{ userCode, approvalUrl, expiresAt }]);
  assert.deepEqual(waitsMs, [5_000, 5_000, 5_000]);
  assert.deepEqual(
    hub.requests.map((request) => request.body),
    [
      { workspaceSlug: 'acme', machineName: 'build-7' },
      ...Array(3).fill({ deviceId: 'dev_1', deviceSecret: 'device-secret' }),
    ],
  );
});

test('a raised interval applies from then on', async (t) => {
  const raised = succeed({ status: 'pending', intervalMs: 10_000 });
  const bare = succeed({ status: 'pending' });
  const { login, waitsMs } = await setUp(t, [raised, bare, succeed(approved)]);
  await login;
  assert.deepEqual(waitsMs, [5_000, 10_000, 10_000]);
});

test('a poll whose answer was lost is repeated and returns the token', async (t) => {
  const { hub, login } = await setUp(t, [pending, loseReply, loseReply, succeed(approved)]);
  assert.equal((await login).token, TOKEN);
  assert.equal(hub.requests.length, 5);
});

test('a login waits for a hub that is unavailable or busy for a while', async (t) => {
  const headers = { 'retry-after': '20' };
  const { login, waitsMs } = await setUp(t, [
    fail(503, 'UNAVAILABLE', { headers }),
    fail(429, 'RATE_LIMITED'),
    fail(500, 'INTERNAL'),
    succeed(approved),
  ]);
  await login;
  // The longer pause applies until the hub sends its interval again.
  assert.deepEqual(waitsMs, [5_000, 20_000, 20_000, 20_000]);
});

test('a login ends when the hub stays unavailable for the lifetime of its session', async (t) => {
  const { login, waitsMs } = await setUp(t, [loseReply]);
  await assert.rejects(login, UnreachableError);
  assert.equal(waitsMs.length, DEVICE_SESSION_MS / 5_000);
});

test('a denied login says so', async (t) => {
  const { login } = await setUp(t, [pending, succeed({ status: 'denied' })]);
  await assert.rejects(
    login,
    (error) => error instanceof DeviceLoginError && error.reason === 'denied',
  );
});

test('an expired login says what to do, also after the hub has deleted its session', async (t) => {
  for (const answer of [succeed({ status: 'expired' }), fail(400, 'DEVICE_SESSION_NOT_FOUND')]) {
    const { login } = await setUp(t, [pending, answer]);
    await assert.rejects(login, (error) => {
      assert.ok(error instanceof DeviceLoginError);
      assert.equal(error.reason, 'expired');
      assert.match(error.message, /Start it again/);
      return true;
    });
  }
});

test('a refusal that is not transient ends the login', async (t) => {
  const { hub, login } = await setUp(t, [fail(400, 'INVALID_REQUEST')]);
  await assert.rejects(login, ApiError);
  assert.equal(hub.requests.length, 2);
});

test('an aborted login rejects with the reason', async (t) => {
  const ending = new AbortController();
  const reason = new Error('Ctrl-C');
  const { login } = await setUp(t, [() => ending.abort(reason)], { signal: ending.signal });
  await assert.rejects(login, (error) => error === reason);
});

test('a code or address that is unsafe in a terminal or browser is rejected', async (t) => {
  for (const bad of [
    { approvalUrl: 'javascript:alert(1)' },
    { approvalUrl: 'file:///etc/passwd' },
    { approvalUrl: '' },
    { userCode: '\u001b[2J' },
    { userCode: '' },
  ]) {
    const hub = await startHubStandIn(t, [succeed({ ...started, ...bad })]);
    const client = createClient({ baseUrl: hub.baseUrl });
    await assert.rejects(
      startDeviceLogin(client, { workspaceSlug: 'acme' }),
      (error) => error instanceof ApiError && error.code === 'INVALID_RESPONSE',
    );
  }
});

test('an approval without a token is an error', () => {
  const state = { intervalMs: 1 };
  assert.throws(() => nextPollStep({ ok: true, status: 'approved' }, state), ApiError);
  const { token, ...rest } = approved;
  assert.equal(token, TOKEN);
  assert.throws(() => nextPollStep({ ok: true, ...rest }, state), ApiError);
});

test('a defect is not treated as a lost answer', () => {
  const defect = new TypeError('x is not a function');
  assert.throws(
    () => nextPollStepAfterError(defect, { intervalMs: 1 }),
    (error) => error === defect,
  );
});
