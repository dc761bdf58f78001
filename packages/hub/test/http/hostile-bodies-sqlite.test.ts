import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrorCode, endpoints } from '@signalbox/contract';
import { fillExample, listBoundEndpoints } from '../support/bound-endpoints.ts';
import { checkAnswer, checkHealth, openQueue, setupCalls } from '../support/hostile-calls.ts';
import { nest } from '../support/hostile-values.ts';
import { checkRequestId, type Exchange, exchange } from '../support/http-exchange.ts';

/* What is refused before any statement runs, so that one engine is enough. */

const BODY_BYTES = 262_144;

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
    if (endpoint.name === endpoints.tokens.revoke.name) continue;
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
