import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import {
  consolePathOf,
  endpointList,
  endpoints,
  INTEGRATION_SECRET_HEADER,
  mirroredEndpoints,
} from '@signalbox/contract';
import {
  ApiError,
  type ClientOptions,
  createClient,
  createClientOf,
  UnreachableError,
} from '@signalbox/sdk';
import {
  type Answer,
  fail,
  findClosedPort,
  sendText,
  startHubStandIn,
  stayingSilent,
  succeed,
} from './hub-stand-in.ts';

const TOKEN = 'sbx_d_00000000000000000000000000000000000000000000ABQhW';

async function setUp(t: TestContext, answers: Answer[], options: Partial<ClientOptions> = {}) {
  const hub = await startHubStandIn(t, answers);
  const client = createClient({
    baseUrl: hub.baseUrl,
    token: TOKEN,
    maxAttempts: 1,
    ...options,
  });
  return { hub, client };
}

const enqueueBody = {
  workspaceId: 'ws_1',
  repoId: 'repo_1',
  kind: 'work',
  prompt: 'Add a test.',
} as const;

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => assert.fail('the call succeeded'),
    (error: unknown) => error,
  );
}

async function apiErrorOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await errorOf(call);
  assert.ok(error instanceof ApiError, String(error));
  return error;
}

test('a client has one call for every endpoint of the table', () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:1' });
  const calls = Object.values(client).flatMap((group) => Object.values(group));
  assert.equal(calls.length, endpointList.length);
  for (const [group, verbs] of Object.entries(endpoints)) {
    const found = Object.entries(client).find(([name]) => name === group)?.[1];
    assert.deepEqual(Object.keys(found ?? {}), Object.keys(verbs));
  }
});

test('a call sends its body as JSON with the token and returns the fields', async (t) => {
  const { hub, client } = await setUp(t, [succeed({ jobId: 'job_1', job: { jobId: 'job_1' } })], {
    userAgent: 'signalbox-cli/0.1.0',
  });
  const { jobId } = await client.jobs.enqueue({ ...enqueueBody, idempotencyKey: 'k1' });
  assert.equal(jobId, 'job_1');
  const [request] = hub.requests;
  assert.equal(request?.method, 'POST');
  assert.equal(request?.path, '/control-plane/v1/jobs/enqueue');
  assert.equal(request?.headers.authorization, `Bearer ${TOKEN}`);
  assert.equal(request?.headers['content-type'], 'application/json');
  assert.equal(request?.headers['user-agent'], 'signalbox-cli/0.1.0');
  assert.deepEqual(request?.body, { ...enqueueBody, idempotencyKey: 'k1' });
});

test('a GET endpoint is called without body and without token', async (t) => {
  const { hub, client } = await setUp(t, [succeed()]);
  assert.deepEqual(await client.health.health(), { ok: true });
  assert.equal(hub.requests[0]?.method, 'GET');
  assert.equal(hub.requests[0]?.path, '/control-plane/health');
  assert.equal(hub.requests[0]?.text, '');
  assert.equal(hub.requests[0]?.headers.authorization, undefined);
});

test('an endpoint that needs no token does not get it', async (t) => {
  const { hub, client } = await setUp(t, [succeed({ status: 'pending' })]);
  await client.devices.poll({ deviceId: 'dev_1', deviceSecret: 'x' });
  assert.equal(hub.requests[0]?.headers.authorization, undefined);
});

test('the description is accepted without ok', async (t) => {
  const { client } = await setUp(t, [sendText(200, '{"openapi":"3.1.1"}')]);
  assert.equal((await client.health.openapi()).openapi, '3.1.1');
});

test('a path prefix and slashes at the end of the base address are handled', async (t) => {
  const hub = await startHubStandIn(t, [succeed()]);
  for (const suffix of ['/', '/team/hub', '/team/hub///']) {
    await createClient({ baseUrl: hub.baseUrl + suffix }).health.health();
  }
  assert.deepEqual(
    hub.requests.map((request) => request.path),
    ['/control-plane/health', '/team/hub/control-plane/health', '/team/hub/control-plane/health'],
  );
});

test('a client of another table calls the paths of pathOf', async (t) => {
  const hub = await startHubStandIn(t, [succeed({ jobs: [], nextCursor: null })]);
  const client = createClientOf(mirroredEndpoints, {
    baseUrl: hub.baseUrl,
    pathOf: consolePathOf,
  });
  assert.deepEqual((await client.jobs.list({ workspaceId: 'ws_1' })).jobs, []);
  assert.equal(hub.requests[0]?.path, '/console-api/v1/jobs/list');
});

test('an invalid option is rejected at once, and the error does not contain its secret', () => {
  const bad: ClientOptions[] = [
    { baseUrl: '' },
    { baseUrl: '127.0.0.1:4400' },
    { baseUrl: 'ftp://hub' },
    { baseUrl: 'http://ada:s3cret@hub' },
    { baseUrl: 'http://hub?x=s3cret' },
    { baseUrl: 'http://hub', token: 's3cret\n' },
    { baseUrl: 'http://hub', token: '' },
    { baseUrl: 'http://hub', maxAttempts: 0 },
  ];
  for (const options of bad) {
    assert.throws(
      () => createClient(options),
      (error) => error instanceof TypeError && !error.message.includes('s3cret'),
    );
  }
});

test('a refusal carries code, status, message, request id and details', async (t) => {
  const details = [{ path: '/prompt', message: 'must be there' }];
  const { client } = await setUp(t, [fail(400, 'INVALID_REQUEST', { details })]);
  const error = await apiErrorOf(client.jobs.enqueue(enqueueBody));
  assert.equal(error.code, 'INVALID_REQUEST');
  assert.equal(error.status, 400);
  assert.equal(error.message, 'Refused: INVALID_REQUEST.');
  assert.equal(error.requestId, 'req_1');
  assert.deepEqual(error.details, details);
  assert.equal(error.retryAfterMs, null);
});

test('a refusal with a code only gets the condition of the code as its message', async (t) => {
  const bare = (error: string) => sendText(400, JSON.stringify({ ok: false, error }));
  const { client } = await setUp(t, [bare('JOB_NOT_FOUND'), bare('OF_TOMORROW')]);
  const call = () => client.jobs.get({ workspaceId: 'ws_1', jobId: 'job_1' });
  assert.match((await apiErrorOf(call())).message, /No such job/);
  assert.match((await apiErrorOf(call())).message, /OF_TOMORROW/);
});

test('ok: false is a refusal with any status', async (t) => {
  const { client } = await setUp(t, [fail(200, 'JOB_NOT_FOUND')]);
  const call = client.jobs.get({ workspaceId: 'ws_1', jobId: 'job_1' });
  assert.equal((await apiErrorOf(call)).code, 'JOB_NOT_FOUND');
});

test('an answer that no hub sent is INVALID_RESPONSE and says what to check', async (t) => {
  const answers = [
    sendText(200, '<html>Welcome</html>'),
    sendText(200, '{"ok":true'),
    sendText(200, '[]'),
    sendText(200, 'null'),
    sendText(200, '{"jobs":[]}'),
    sendText(200, '{"ok":"true"}'),
    sendText(404, 'not found'),
    sendText(500, '{"ok":false}'),
  ];
  const { client } = await setUp(t, answers);
  for (const _ of answers) {
    const error = await apiErrorOf(client.jobs.list({ workspaceId: 'ws_1' }));
    assert.equal(error.code, 'INVALID_RESPONSE');
    assert.match(error.message, /check the address/);
  }
});

test('a 413 of the hub is BODY_TOO_LARGE', async (t) => {
  const { client } = await setUp(t, [fail(413, 'BODY_TOO_LARGE')]);
  const error = await apiErrorOf(client.jobs.enqueue(enqueueBody));
  assert.equal(error.code, 'BODY_TOO_LARGE');
  assert.equal(error.status, 413);
});

test('a body above the limit, counted in bytes, is rejected without being sent', async (t) => {
  const { hub, client } = await setUp(t, [succeed()]);
  const error = await apiErrorOf(
    client.jobs.enqueue({ ...enqueueBody, prompt: 'é'.repeat(131_072) }),
  );
  assert.equal(error.code, 'BODY_TOO_LARGE');
  assert.equal(hub.requests.length, 0);
  await client.jobs.enqueue({ ...enqueueBody, prompt: 'e'.repeat(131_072) });
  assert.equal(hub.requests.length, 1);
});

test('a redirect is refused, and its target never gets the token', async (t) => {
  const target = await startHubStandIn(t, [succeed()]);
  for (const status of [301, 302, 303, 307, 308]) {
    const location = `${target.baseUrl}/control-plane/v1/jobs/list?t=${TOKEN}`;
    const { client } = await setUp(t, [sendText(status, '', { location })], { maxAttempts: 4 });
    const error = await apiErrorOf(client.jobs.list({ workspaceId: 'ws_1' }));
    assert.equal(error.code, 'REDIRECT_REFUSED');
    assert.ok(error.message.includes(target.baseUrl));
    assert.ok(!error.message.includes(TOKEN));
  }
  assert.equal(target.requests.length, 0);
});

test('a redirect whose status a browser hides is refused too', async () => {
  const opaque = {
    type: 'opaqueredirect',
    status: 0,
    headers: new Headers(),
    text: async () => '',
  };
  const client = createClient({
    baseUrl: 'http://hub.invalid',
    fetch: async () => opaque as unknown as Response,
  });
  const error = await apiErrorOf(client.health.health());
  assert.equal(error.code, 'REDIRECT_REFUSED');
});

test('without a hub, the error has the address, the reason and the cause', async () => {
  const baseUrl = `http://127.0.0.1:${await findClosedPort()}`;
  const client = createClient({ baseUrl, token: TOKEN, maxAttempts: 1 });
  const error = await errorOf(client.health.health());
  assert.ok(error instanceof UnreachableError);
  assert.ok(error.message.includes(`${baseUrl} did not answer (ECONNREFUSED)`), error.message);
  assert.match(error.message, /check that it is running/);
  assert.ok(error.cause instanceof Error);
});

test('a hub that does not answer is unreachable after the timeout', async (t) => {
  const { client } = await setUp(t, [stayingSilent]);
  const error = await errorOf(client.health.health({}, { timeoutMs: 20 }));
  assert.ok(error instanceof UnreachableError);
  assert.match(error.message, /did not answer within 20 ms/);
});

test('an aborted call rejects with the reason, before and during the request', async (t) => {
  const ending = new AbortController();
  const reason = new Error('the person pressed Ctrl-C');
  const { hub, client } = await setUp(t, [() => ending.abort(reason)]);
  const { signal } = ending;
  assert.equal(await errorOf(client.health.health({}, { signal })), reason);
  assert.equal(await errorOf(client.health.health({}, { signal })), reason);
  assert.equal(hub.requests.length, 1);
});

test('no error contains the token', async (t) => {
  const echo: Answer = (response, request) =>
    fail(400, 'INVALID_REQUEST', { message: `bad ${request.headers.authorization}` })(
      response,
      request,
    );
  const { client } = await setUp(t, [echo, sendText(200, TOKEN), (response) => response.destroy()]);
  for (let i = 0; i < 3; i++) {
    const error = await errorOf(client.jobs.list({ workspaceId: 'ws_1' }));
    assert.ok(error instanceof Error);
    assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(TOKEN.slice(6, 40)));
  }
});

test('the integration secret is sent in its header, to its endpoint only', async (t) => {
  const { hub, client } = await setUp(t, [succeed()], { integrationSecret: 'shared' });
  await client.jobs.list({ workspaceId: 'ws_1' });
  const event = { workspaceSlug: 'acme', idempotencyKey: 'k1', source: 'tracker', type: 'opened' };
  await client.integrations.ingest(event);
  assert.deepEqual(
    hub.requests.map(({ headers }) => [headers[INTEGRATION_SECRET_HEADER], headers.authorization]),
    [
      [undefined, `Bearer ${TOKEN}`],
      ['shared', undefined],
    ],
  );
  assert.deepEqual(hub.requests[1]?.body, event);
});

test('an endpoint with a signed URL cannot be called as JSON', async (t) => {
  const { hub, client } = await setUp(t, [succeed()]);
  const { request } = endpoints.uploads.storeBytes.example;
  assert.ok((await errorOf(client.uploads.storeBytes(request))) instanceof TypeError);
  assert.equal(hub.requests.length, 0);
});

test('answers are compressed, except from a hub on this machine', async () => {
  const asked = new Map<string, string | undefined>();
  const hosts = ['https://hub.acme.dev', 'http://127.0.0.1:4400', 'http://localhost:4400'];
  for (const baseUrl of [...hosts, 'http://[::1]:4400', 'http://127.0.0.1.acme.dev']) {
    const client = createClient({
      baseUrl,
      fetch: async (_url, init) => {
        asked.set(baseUrl, new Headers(init?.headers).get('accept-encoding') ?? undefined);
        return Response.json({ ok: true });
      },
    });
    await client.health.health();
  }
  assert.deepEqual([...asked.values()], [undefined, 'identity', 'identity', 'identity', undefined]);
});

test('a compressed answer is read like any other', async (t) => {
  const { client } = await setUp(t, [
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' });
      response.end(brotliCompressSync(JSON.stringify({ ok: true })));
    },
  ]);
  assert.deepEqual(await client.health.health(), { ok: true });
});
