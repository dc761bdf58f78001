import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import {
  type Endpoint,
  type ErrorCode,
  endpoints,
  INTEGRATION_SECRET_HEADER,
  listErrorCodes,
} from '@signalbox/contract';
import fc from 'fast-check';
import { assertNothingLeaks } from '../support/api-scenario.ts';
import { startApiWorld, type World } from '../support/api-world.ts';
import { fillExample, listBoundCalls, listBoundEndpoints } from '../support/bound-endpoints.ts';
import {
  boundaryValues,
  hostileValues,
  listFields,
  nest,
  raw,
  spell,
  withField,
} from '../support/hostile-values.ts';
import {
  type Answer,
  checkRequestId,
  type Exchange,
  exchange,
  toBytes,
} from '../support/http-exchange.ts';
import { CHAT_SECRET, SECRET, signatureHeaders } from '../support/integration-world.ts';
import { testEngine } from '../support/test-engine.ts';

const BODY_BYTES = 262_144;
const FUZZ_RUNS = 2_000;
/** The interval of fresh jobs, so that not every call finds its job finished. */
const RUNS_PER_JOB = 50;
const { revoke } = endpoints.tokens;

/** Every answer must be documented, have an id, not be a 5xx, and leak nothing. */
function checkAnswer(endpoint: Endpoint, answer: Answer, sent: string): void {
  const about = `${endpoint.name} ${sent.slice(0, 300)}: ${answer.text.slice(0, 500)}`;
  assert.ok(answer.status < 500, about);
  checkRequestId(answer);
  assertNothingLeaks(answer);
  if (answer.status === 200) return;
  const code = answer.body.error as ErrorCode;
  assert.ok(listErrorCodes(endpoint).includes(code), `is documented: ${about}`);
}

/** Undoes what a valid request among the hostile ones may have done: jobs can be claimed again. */
async function openQueue({ call, home }: World): Promise<void> {
  const { workspaceId, repoId } = home;
  await call(endpoints.queue.resume, { workspaceId });
  await call(endpoints.queue.resume, { workspaceId, repoId });
  const capabilities = { canWrite: true };
  const machineFingerprint = 'home-machine';
  await call(endpoints.agents.heartbeat, { workspaceId, machineFingerprint, capabilities });
  const remoteUrlHash = Buffer.from('first'.padEnd(32, '.')).toString('hex');
  await call(endpoints.repositories.upsert, { workspaceId, remoteUrlHash, status: 'active' });
}

/** Checks that the hub still completes jobs and that its database file, if any, is intact. */
async function checkHealth(world: World): Promise<void> {
  await openQueue(world);
  await world.finishJob('done');
  if (testEngine !== 'sqlite') return;
  // On a new connection: one that has searched before compares an index with its cached state,
  // and reports the writes of other connections as corruption.
  const db = new DatabaseSync(join(world.dataDir, 'signalbox.db'), { readOnly: true });
  const found = db.prepare('PRAGMA integrity_check').get();
  db.close();
  assert.deepEqual({ ...found }, { integrity_check: 'ok' });
}

/** The credentials of endpoints that accept no bearer token. */
function proofOf({ auth }: Endpoint, body: unknown, nowMs: number): Record<string, string> {
  if (auth === 'integration-secret') return { [INTEGRATION_SECRET_HEADER]: SECRET };
  return auth === 'chat-signature' ? signatureHeaders(toBytes(body), { nowMs }) : {};
}

async function setupCalls(t: TestContext) {
  const config = { integrationSecrets: [SECRET], chatSecrets: [CHAT_SECRET] };
  const world = await startApiWorld(t, { config });
  const { baseUrl } = world.hub;
  const send = (endpoint: Endpoint, request: Omit<Exchange, 'path'>) =>
    exchange(baseUrl, {
      ...{ path: endpoint.path, token: world.home.token, ...request },
      headers: { ...proofOf(endpoint, request.body, world.clock.nowMs()), ...request.headers },
    });
  return { world, send, baseUrl, calls: await listBoundCalls(baseUrl) };
}

const brokenBodies: [name: string, body: string | Uint8Array, code: ErrorCode][] = [
  ['no JSON', 'hello', 'INVALID_JSON'],
  ['half an object', '{"workspaceId":"', 'INVALID_JSON'],
  ['two values', '{} {}', 'INVALID_JSON'],
  ['a byte order mark twice', '\uFEFF\uFEFF{}', 'INVALID_JSON'],
  ['bad UTF-8', new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]), 'INVALID_JSON'],
  ['UTF-16', new Uint8Array(Buffer.from('{"a":1}', 'utf16le')), 'INVALID_JSON'],
  ['a duplicate key', '{"workspaceId":"a","workspaceId":"b"}', 'INVALID_JSON'],
  ['an escaped duplicate key', '{"slug":"a","\\u0073lug":"b"}', 'INVALID_JSON'],
  ['__proto__', '{"__proto__":{"workspaceId":"x"}}', 'INVALID_JSON'],
  ['constructor', '{"a":{"constructor":{"prototype":{}}}}', 'INVALID_JSON'],
  ['10,000 levels', nest(10_000), 'INVALID_JSON'],
  ['10,000 levels of objects', '{"a":'.repeat(10_000) + '}'.repeat(10_000), 'INVALID_JSON'],
  ['33 levels', `{"a":${nest(32)}}`, 'INVALID_JSON'],
  ['NUL in a string', '{"anything":"\\u0000"}', 'INVALID_REQUEST'],
  ['a lone surrogate', '{"anything":"\\udc00"}', 'INVALID_REQUEST'],
  ['NUL in a key', '{"any\\u0000thing":1}', 'INVALID_REQUEST'],
  ['a number', '7', 'INVALID_REQUEST'],
  ['a list', '[]', 'INVALID_REQUEST'],
  ['a string', '"x"', 'INVALID_REQUEST'],
  ['256 KB of spaces and one more', ' '.repeat(BODY_BYTES + 1), 'BODY_TOO_LARGE'],
  ['a megabyte', `{"a":"${'x'.repeat(1_048_576)}"}`, 'BODY_TOO_LARGE'],
];

test('every endpoint refuses a malformed body with the same code', async (t) => {
  const { world, send, calls } = await setupCalls(t);
  for (const [name, body, code] of brokenBodies) {
    await t.test(name, async () => {
      for (const endpoint of calls) {
        const answer = await send(endpoint, { body });
        checkAnswer(endpoint, answer, name);
        assert.equal(answer.body.error, code, `${endpoint.name}: ${answer.text}`);
      }
    });
  }
  await checkHealth(world);
});

test('a body of exactly 256 KB is read by every endpoint', async (t) => {
  const { world, send, calls } = await setupCalls(t);
  for (const endpoint of calls) {
    if (endpoint.name === revoke.name) continue;
    await openQueue(world);
    const job = await world.startJob();
    const example = JSON.stringify(await fillExample(world, endpoint, job.jobId));
    const body = example + ' '.repeat(BODY_BYTES - Buffer.byteLength(example));
    const answer = await send(endpoint, { body });
    checkAnswer(endpoint, answer, 'padded');
    const refusals = ['BODY_TOO_LARGE', 'INVALID_JSON'];
    assert.ok(!refusals.includes(String(answer.body.error)), answer.text);
  }
});

test('a wrong content type is refused with the one to send', async (t) => {
  const { send, calls } = await setupCalls(t);
  const types = ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'json', '*/*'];
  for (const endpoint of calls) {
    for (const type of types) {
      const answer = await send(endpoint, { body: '{}', headers: { 'content-type': type } });
      checkAnswer(endpoint, answer, type);
      assert.equal(answer.body.error, 'INVALID_REQUEST', answer.text);
      assert.match(String(answer.body.message), /content-type: application\/json/);
    }
  }
});

test('the content type may have capitals and a charset', async (t) => {
  const { send } = await setupCalls(t);
  const headers = { 'content-type': 'Application/JSON; charset=UTF-8' };
  const body = { slug: 'home' };
  assert.equal((await send(endpoints.workspaces.resolve, { body, headers })).status, 200);
});

test('a wrong method is 405 with the right methods in Allow, with or without a token', async (t) => {
  const { baseUrl } = await setupCalls(t);
  for (const { path, method: right } of await listBoundEndpoints(baseUrl)) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await exchange(baseUrl, { method, path });
      if (answer.status !== 405) continue;
      const allowed = answer.headers.get('allow')?.split(', ') ?? [];
      assert.ok(allowed.includes(right) && !allowed.includes(method), `${method} ${path}`);
      assert.equal(answer.body.error, 'METHOD_NOT_ALLOWED');
      checkRequestId(answer);
    }
    const answer = await exchange(baseUrl, { method: 'DELETE', path });
    assert.equal(answer.status, 405, `DELETE ${path}: ${answer.text}`);
  }
});

test('an unknown path is 404 for every body and method', async (t) => {
  const { baseUrl } = await setupCalls(t);
  const requests: Omit<Exchange, 'path'>[] = [
    { body: {} },
    { body: 'x=1', headers: { 'content-type': 'text/plain' } },
    { body: '{' },
    { body: 'x'.repeat(BODY_BYTES + 1) },
    { method: 'DELETE' },
  ];
  for (const path of ['/control-plane', '/control-plane/v1', '/control-plane/v3/jobs/list', '//']) {
    for (const request of requests) {
      const answer = await exchange(baseUrl, { path, ...request });
      assert.equal(answer.status, 404, `${path}: ${answer.text}`);
      assert.equal(answer.body.error, 'NOT_FOUND');
      checkRequestId(answer);
    }
  }
});

test('every unknown field is reported and changes nothing', async (t) => {
  const { send } = await setupCalls(t);
  for (const name of [
    'slugg',
    'toString',
    'valueOf',
    'hasOwnProperty',
    'größe',
    'a b',
    'a,b',
    '',
  ]) {
    const body = { slug: 'home', [name]: 1 };
    const answer = await send(endpoints.workspaces.resolve, { body });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get('x-ignored-fields'), encodeURIComponent(name));
  }
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field${i}`, i]));
  const answer = await send(endpoints.workspaces.resolve, { body: { slug: 'home', ...many } });
  assert.equal(answer.status, 200);
  assert.ok((answer.headers.get('x-ignored-fields') ?? '').length <= 1_000);
});

/** Mutations of a valid request; values are drawn by index, so that a failure prints briefly. */
const mutation = fc.record({
  endpoint: fc.nat(),
  way: fc.constantFrom('boundary', 'hostile', 'two', 'drop', 'add', 'json', 'whole'),
  field: fc.nat(),
  value: fc.nat(),
  other: fc.nat(),
  json: fc.jsonValue({ maxDepth: 3 }),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

function pick<T>(list: readonly T[], at: number): T {
  return list[at % list.length] as T;
}

function mutate(endpoint: Endpoint, good: Record<string, unknown>, m: Mutation): unknown {
  // A long poll would never end: no event arrives and the clock does not advance.
  const fields = listFields(endpoint.request).filter(({ path }) => path[0] !== 'waitMs');
  const hostile = pick(hostileValues, m.value);
  if (fields.length === 0) return m.way === 'whole' ? hostile : { unknown: hostile };
  const { path, schema } = pick(fields, m.field);
  switch (m.way) {
    case 'boundary': {
      const values = boundaryValues(schema);
      return values.length === 0 ? good : withField(good, path, pick(values, m.value));
    }
    case 'two': {
      const second = pick(fields, m.other);
      return withField(withField(good, path, hostile), second.path, pick(hostileValues, m.other));
    }
    case 'drop':
      return withField(good, path, undefined);
    case 'add':
      return withField(good, [...path.slice(0, -1), 'unknownField'], hostile);
    case 'json':
      return withField(good, path, m.json);
    case 'whole':
      return hostile;
    default:
      return withField(good, path, hostile);
  }
}

/** A valid request for each endpoint, about jobs that have just been claimed. */
async function fillAll(
  world: World,
  calls: readonly Endpoint[],
): Promise<Map<Endpoint, Record<string, unknown>>> {
  await openQueue(world);
  const { jobId } = await world.startJob();
  const filled = new Map<Endpoint, Record<string, unknown>>();
  for (const endpoint of calls) {
    // The number of device sessions per address is limited.
    const isLogin = endpoint.tag === 'Device login';
    const example = { ...endpoint.example.request };
    filled.set(endpoint, isLogin ? example : await fillExample(world, endpoint, jobId));
  }
  return filled;
}

test(`${FUZZ_RUNS} mutated requests cause no 5xx, and every answer is documented`, async (t) => {
  const { world, send, calls } = await setupCalls(t);
  let runs = 0;
  let good = await fillAll(world, calls);
  const property = fc.asyncProperty(mutation, async (m) => {
    if (++runs % RUNS_PER_JOB === 0) good = await fillAll(world, calls);
    const endpoint = pick(calls, m.endpoint);
    const body = spell(mutate(endpoint, good.get(endpoint) ?? {}, m));
    const ends = endpoint.name === revoke.name;
    const token = ends ? await world.mintToken(world.home.workspaceId, 'fuzz') : world.home.token;
    checkAnswer(endpoint, await send(endpoint, { body, token }), body);
  });
  // On failure fast-check prints the seed and the path that replay the request.
  await fc.assert(property, { numRuns: FUZZ_RUNS, endOnFailure: true });
  await checkHealth(world);
});

test('a number too large to store is refused with its path, not turned into null', async (t) => {
  const { world, send } = await setupCalls(t);
  const draft = { workspaceId: world.home.workspaceId, repoId: world.home.repoId, kind: 'work' };
  for (const [name, value, path] of [
    ['requirements', raw('{"limit":1e400}'), '/requirements/limit'],
    ['budget', raw('{"costUsd":[-1E+999]}'), '/budget/costUsd/0'],
    ['budget', raw(`{"tokens":1${'0'.repeat(400)}}`), '/budget/tokens'],
    ['priority', raw('1e400'), '/priority'],
  ] as const) {
    const body = spell({ ...draft, prompt: 'Do it.', [name]: value });
    const answer = await send(endpoints.jobs.enqueue, { body });
    assert.equal(answer.body.error, 'INVALID_REQUEST', answer.text);
    assert.equal((answer.body.details as { path: string }[])[0]?.path, path);
  }
  const fine = spell({ ...draft, prompt: '1e400', budget: raw('{"least":1e-400,"most":1e308}') });
  assert.equal((await send(endpoints.jobs.enqueue, { body: fine })).status, 200);
});
