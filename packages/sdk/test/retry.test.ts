import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { DECISION_WAIT_MS_DEFAULT } from '@signalbox/contract';
import {
  ApiError,
  type ClientOptions,
  createClient,
  LONG_POLL_MARGIN_MS,
  type Retry,
  UnreachableError,
} from '@signalbox/sdk';
import {
  type Answer,
  cutReply,
  fail,
  loseReply,
  sendText,
  startHubStandIn,
  succeed,
} from './hub-stand-in.ts';

const NOW_MS = Date.parse('2026-11-02T09:00:00.000Z');
const uncertaintyRef = { workspaceId: 'ws_1', uncertaintyId: 'unc_1' };
const jobRef = { workspaceId: 'ws_1', jobId: 'job_1' };
const enqueueBody = {
  workspaceId: 'ws_1',
  repoId: 'repo_1',
  kind: 'work',
  prompt: 'Add a test.',
} as const;

/** Waits are recorded and not waited for. The jitter is half of its maximum. */
async function setUp(t: TestContext, answers: Answer[], options: Partial<ClientOptions> = {}) {
  const hub = await startHubStandIn(t, answers);
  const waitsMs: number[] = [];
  const retries: Retry[] = [];
  const client = createClient({
    baseUrl: hub.baseUrl,
    sleep: async (ms) => void waitsMs.push(ms),
    onRetry: (retry) => void retries.push(retry),
    nowMs: () => NOW_MS,
    random: () => 0.5,
    ...options,
  });
  return { hub, client, waitsMs, retries };
}

test('a read whose answer was lost is repeated until it is answered', async (t) => {
  const { hub, client, waitsMs, retries } = await setUp(t, [
    loseReply,
    cutReply,
    succeed({ jobs: [], nextCursor: null }),
  ]);
  assert.deepEqual((await client.jobs.list({ workspaceId: 'ws_1' })).jobs, []);
  assert.equal(hub.requests.length, 3);
  assert.deepEqual(waitsMs, [125, 250]);
  assert.deepEqual(
    retries.map(({ endpoint, attempt, delayMs }) => ({ endpoint, attempt, delayMs })),
    [
      { endpoint: 'jobsList', attempt: 1, delayMs: 125 },
      { endpoint: 'jobsList', attempt: 2, delayMs: 250 },
    ],
  );
  assert.ok(retries.every(({ error }) => error instanceof UnreachableError));
});

test('the maximum of the wait doubles up to ten seconds', async (t) => {
  const { client, waitsMs } = await setUp(t, [loseReply], { maxAttempts: 9 });
  await assert.rejects(client.health.health(), UnreachableError);
  assert.deepEqual(waitsMs, [125, 250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
});

test('the wait is random between zero and its maximum', async (t) => {
  for (const [random, expectedMs] of [
    [0, 0],
    [0.999, 249],
  ] as const) {
    const { client, waitsMs } = await setUp(t, [loseReply, succeed()], { random: () => random });
    await client.health.health();
    assert.deepEqual(waitsMs, [expectedMs]);
  }
});

test('a call has four attempts by default', async (t) => {
  const { hub, client } = await setUp(t, [loseReply]);
  await assert.rejects(client.health.health(), UnreachableError);
  assert.equal(hub.requests.length, 4);
});

test('an enqueue whose answer was lost is repeated under the same random key', async (t) => {
  const { hub, client } = await setUp(t, [loseReply, succeed({ jobId: 'job_1' })]);
  await client.jobs.enqueue(enqueueBody);
  const [first, second] = hub.requests;
  assert.match(String(first?.body?.idempotencyKey), /^[0-9a-f]{32}$/);
  assert.equal(second?.text, first?.text);
  await client.jobs.enqueue(enqueueBody);
  assert.notEqual(hub.requests[2]?.body?.idempotencyKey, first?.body?.idempotencyKey);
});

test("the caller's own key is kept", async (t) => {
  const { hub, client } = await setUp(t, [loseReply, succeed({ jobId: null, job: null })]);
  await client.jobs.claimNext({ workspaceId: 'ws_1', agentId: 'agt_1', claimKey: 'mine' });
  assert.deepEqual(
    hub.requests.map((request) => request.body?.claimKey),
    ['mine', 'mine'],
  );
});

test('a claim whose answer was lost is repeated under the same claim key', async (t) => {
  const { hub, client } = await setUp(t, [loseReply, succeed({ jobId: null, job: null })]);
  await client.jobs.claimNext({ workspaceId: 'ws_1', agentId: 'agt_1' });
  assert.match(String(hub.requests[0]?.body?.claimKey), /^[0-9a-f]{32}$/);
  assert.equal(hub.requests[1]?.text, hub.requests[0]?.text);
});

test('a call that might act twice is sent once, also after a 503', async (t) => {
  for (const answer of [loseReply, cutReply, fail(503, 'UNAVAILABLE')]) {
    const { hub, client } = await setUp(t, [answer]);
    await assert.rejects(client.jobs.release(jobRef));
    assert.equal(hub.requests.length, 1);
  }
});

test('429 is retried for every call, because the hub has not acted', async (t) => {
  const limited = fail(429, 'RATE_LIMITED', { headers: { 'retry-after': '2' } });
  const { hub, client, waitsMs } = await setUp(t, [limited, succeed({ job: {} })]);
  await client.jobs.release(jobRef);
  assert.equal(hub.requests.length, 2);
  assert.deepEqual(waitsMs, [2_125]);
});

test('408 is retried for every call, because the request did not arrive whole', async (t) => {
  const late = fail(408, 'INVALID_REQUEST');
  const { hub, client } = await setUp(t, [late, succeed({ job: {} })]);
  await client.jobs.release(jobRef);
  assert.equal(hub.requests.length, 2);
});

test('the jitter is added to Retry-After in seconds', async (t) => {
  const away = fail(503, 'UNAVAILABLE', { headers: { 'retry-after': '7' } });
  const { client, waitsMs } = await setUp(t, [away, succeed()]);
  await client.health.health();
  assert.deepEqual(waitsMs, [7_125]);
});

test('a date in Retry-After is compared with the clock of the hub', async (t) => {
  const headers = {
    date: 'Wed, 04 Nov 2026 10:00:00 GMT',
    'retry-after': 'Wed, 04 Nov 2026 10:00:30 GMT',
  };
  const { client, waitsMs } = await setUp(t, [fail(503, 'UNAVAILABLE', { headers }), succeed()]);
  await client.health.health();
  assert.deepEqual(waitsMs, [30_125]);
});

test('without the clock of the hub, the local one is used; a past date means now', async (t) => {
  const until =
    (date: string): Answer =>
    (response, request) => {
      response.sendDate = false;
      fail(503, 'UNAVAILABLE', { headers: { 'retry-after': date } })(response, request);
    };
  const { client, waitsMs } = await setUp(t, [
    until('Mon, 02 Nov 2026 09:00:10 GMT'),
    until('Mon, 02 Nov 2026 08:00:00 GMT'),
    until('some day'),
    succeed(),
  ]);
  await client.health.health();
  assert.deepEqual(waitsMs, [10_125, 250, 500]);
});

test('a pause of more than a minute is reported instead of waited for', async (t) => {
  const away = fail(503, 'UNAVAILABLE', { headers: { 'retry-after': '3600' } });
  const { hub, client } = await setUp(t, [away]);
  await assert.rejects(
    client.health.health(),
    (error) => error instanceof ApiError && error.retryAfterMs === 3_600_000,
  );
  assert.equal(hub.requests.length, 1);
});

test('502 and 504 of a proxy are retried like 503', async (t) => {
  const { hub, client } = await setUp(t, [
    sendText(502, '<html>Bad Gateway</html>'),
    sendText(504, ''),
    succeed(),
  ]);
  await client.health.health();
  assert.equal(hub.requests.length, 3);
});

test('a refusal is final', async (t) => {
  for (const answer of [
    fail(400, 'LEASE_LOST'),
    fail(401, 'TOKEN_EXPIRED'),
    fail(404, 'NOT_FOUND'),
    fail(413, 'BODY_TOO_LARGE'),
    fail(500, 'INTERNAL'),
    sendText(200, 'not JSON'),
  ]) {
    const { hub, client } = await setUp(t, [answer]);
    await assert.rejects(client.jobs.list({ workspaceId: 'ws_1' }), ApiError);
    assert.equal(hub.requests.length, 1);
  }
});

test('the signal ends the wait between attempts', async (t) => {
  const ending = new AbortController();
  const { signal } = ending;
  const reason = new Error('draining');
  // The real sleep would take a minute without the signal.
  const hub = await startHubStandIn(t, [
    fail(503, 'UNAVAILABLE', { headers: { 'retry-after': '60' } }),
  ]);
  const client = createClient({ baseUrl: hub.baseUrl, onRetry: () => ending.abort(reason) });
  await assert.rejects(client.health.health({}, { signal }), (error) => error === reason);
  assert.equal(hub.requests.length, 1);
});

test('a signal ends a wait that has begun, and a wait ends by itself', async (t) => {
  const ending = new AbortController();
  const reason = new Error('draining');
  const away = fail(503, 'UNAVAILABLE', { headers: { 'retry-after': '60' } });
  const hub = await startHubStandIn(t, [away, loseReply, succeed()]);
  const patient = createClient({
    baseUrl: hub.baseUrl,
    onRetry: async () => {
      await setImmediate();
      ending.abort(reason);
    },
  });
  const { signal } = ending;
  await assert.rejects(patient.health.health({}, { signal }), (error) => error === reason);
  const quick = createClient({ baseUrl: hub.baseUrl, random: () => 0 });
  assert.deepEqual(await quick.health.health(), { ok: true });
});

test('a long poll has its waitMs and a margin; other calls have the timeout of the client', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const client = createClient({
    baseUrl: 'http://hub.invalid',
    timeoutMs: 4_321,
    maxAttempts: 1,
    fetch: (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      }),
  });
  const claim = { workspaceId: 'ws_1', agentId: 'agt_1' };
  const rows = [
    [client.jobs.claimNext({ ...claim, waitMs: 60_000 }), 60_000 + LONG_POLL_MARGIN_MS],
    [client.jobs.claimNext({ ...claim, waitMs: 60_000 }, { timeoutMs: 99_000 }), 99_000],
    [client.jobs.claimNext(claim), 4_321],
    [client.jobs.list({ workspaceId: 'ws_1' }), 4_321],
    // The hub waits by default here, so the client does too.
    [client.uncertainties.wait(uncertaintyRef), DECISION_WAIT_MS_DEFAULT + LONG_POLL_MARGIN_MS],
  ] as const;
  const endedAtMs = rows.map(() => 0);
  let nowMs = 0;
  const ends = rows.map(async ([call], row) => {
    await assert.rejects(call, UnreachableError);
    endedAtMs[row] = nowMs;
  });
  const boundariesMs = rows.flatMap(([, atMs]) => [atMs - 1, atMs]).toSorted((a, b) => a - b);
  for (const atMs of boundariesMs) {
    t.mock.timers.tick(atMs - nowMs);
    nowMs = atMs;
    await setImmediate();
  }
  await Promise.all(ends);
  assert.deepEqual(
    endedAtMs,
    rows.map(([, atMs]) => atMs),
  );
});
