import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { startHomeWorld } from '../support/home-world.ts';
import { exchange } from '../support/http-exchange.ts';
import { sendRaw } from '../support/raw-socket.ts';

const { health, workspaces } = endpoints;
const SLUG = '{"slug":"home"}';

async function setupSockets(t: TestContext) {
  const { hub, home } = await startHomeWorld(t);
  const { baseUrl } = hub;
  const host = new URL(baseUrl).host;
  const head = (...lines: string[]) =>
    [
      `POST ${workspaces.resolve.path} HTTP/1.1`,
      `host: ${host}`,
      `authorization: Bearer ${home.token}`,
      'content-type: application/json',
      ...lines,
      '',
      '',
    ].join('\r\n');
  const get = (...lines: string[]) =>
    [`GET ${health.health.path} HTTP/1.1`, `host: ${host}`, ...lines, '', ''].join('\r\n');
  const isHealthy = async () => {
    const answer = await exchange(baseUrl, { method: 'GET', path: health.health.path });
    assert.equal(answer.status, 200);
  };
  return { hub, baseUrl, head, get, isHealthy };
}

/** Invalid HTTP gets one refusal in the contract's form, with an id, and a closed connection. */
function assertRefused(answer: { text: string; statuses: number[] }, status: number): void {
  assert.deepEqual(answer.statuses, [status], answer.text);
  const [head = '', body = ''] = answer.text.split('\r\n\r\n');
  const refusal = JSON.parse(body) as Record<string, unknown>;
  assert.equal(refusal.ok, false);
  assert.equal(refusal.error, 'INVALID_REQUEST');
  assert.match(String(refusal.message), /\.$/);
  assert.match(head, new RegExp(`x-request-id: ${String(refusal.requestId)}`));
  assert.match(head, /connection: close/i);
}

test('a request without an unambiguous end is refused and closes the connection', async (t) => {
  const { baseUrl, head, isHealthy } = await setupSockets(t);
  const smuggled = 'GET /control-plane/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n';
  const cases: [name: string, request: string][] = [
    [
      'a length and chunks',
      `${head(`content-length: ${SLUG.length}`, 'transfer-encoding: chunked')}0\r\n\r\n${smuggled}`,
    ],
    [
      'chunks and a length',
      `${head('transfer-encoding: chunked', 'content-length: 4')}f\r\n${SLUG}\r\n0\r\n\r\n${smuggled}`,
    ],
    ['two lengths', `${head('content-length: 15', 'content-length: 15')}${SLUG}${smuggled}`],
    ['two different lengths', `${head('content-length: 0', 'content-length: 15')}${SLUG}`],
    ['a negative length', `${head('content-length: -1')}${SLUG}`],
    ['a length with a sign', `${head('content-length: +15')}${SLUG}`],
    ['an unknown encoding', `${head('transfer-encoding: chunked, identity')}${SLUG}`],
    ['a chunk without a size', `${head('transfer-encoding: chunked')}xyz\r\n${SLUG}\r\n0\r\n\r\n`],
    ['a space before the colon', `${head('content-length : 15')}${SLUG}`],
    ['a folded header', `${head('x-a: 1\r\n x-b: 2', 'content-length: 15')}${SLUG}`],
    ['a bare line feed', head('x-a: 1\nx-b: 2', 'content-length: 15') + SLUG],
    ['NUL in a header', `${head('x-a: \0', 'content-length: 15')}${SLUG}`],
    ['no request line', `hello\r\n\r\n`],
    ['an unknown version', `GET / HTTP/9.9\r\nhost: x\r\n\r\n`],
    ['a TLS greeting', '\u0016\u0003\u0001\u0002\u0000\u0001'],
    ['no host', `GET ${health.health.path} HTTP/1.1\r\n\r\n`],
  ];
  for (const [name, request] of cases) {
    await t.test(name, async () => {
      const answer = await sendRaw(baseUrl, request);
      if (name === 'no host') assert.equal(answer.statuses[0], 400);
      else assertRefused(answer, 400);
      assert.ok(!answer.text.includes('"openapi"'), 'no request smuggled in a body was answered');
      await isHealthy();
    });
  }
});

test('headers of more than 16 KB, and a megabyte of them, are 431', async (t) => {
  const { baseUrl, get, isHealthy } = await setupSockets(t);
  assertRefused(await sendRaw(baseUrl, get(`x-padding: ${'x'.repeat(17_000)}`)), 431);
  const megabyte = await sendRaw(baseUrl, get(`x-padding: ${'x'.repeat(1_048_576)}`));
  // While the client is still sending, the answer may get lost with the connection.
  for (const status of megabyte.statuses) assert.equal(status, 431);
  const many = Array.from({ length: 5_000 }, (_, i) => `x-${i}: ${i}`);
  for (const status of (await sendRaw(baseUrl, get(...many))).statuses) assert.equal(status, 431);
  await isHealthy();
});

test('unfinished headers are 408, and so is an unfinished body', async (t) => {
  const { hub, baseUrl, head, get, isHealthy } = await setupSockets(t);
  // The real limits are 10 and 30 seconds; Node checks them each second.
  hub.server.server.headersTimeout = 10;
  assertRefused(await sendRaw(baseUrl, get().slice(0, -2)), 408);
  hub.server.server.requestTimeout = 10;
  const halfSent = await sendRaw(baseUrl, head('content-length: 15'), SLUG.slice(0, 5));
  assert.deepEqual(halfSent.statuses, [408], halfSent.text);
  hub.server.server.headersTimeout = 10_000;
  hub.server.server.requestTimeout = 30_000;
  await isHealthy();
});

test('headers must arrive within ten seconds', async (t) => {
  const { hub } = await setupSockets(t);
  assert.equal(hub.server.server.headersTimeout, 10_000);
});

test('two Host headers are refused, even if they are equal', async (t) => {
  const { hub, baseUrl, get } = await setupSockets(t);
  const { host } = new URL(hub.baseUrl);
  const answer = await sendRaw(baseUrl, get(`HOST: ${host}`, 'connection: close'));
  assert.deepEqual(answer.statuses, [400], answer.text);
  assert.match(answer.text, /"INVALID_REQUEST","message":"Send exactly one Host header/);
});

test('pipelined requests are answered in their order', async (t) => {
  const { baseUrl, head, get } = await setupSockets(t);
  const resolve = (slug: string) => {
    const body = JSON.stringify({ slug });
    return head(`content-length: ${body.length}`) + body;
  };
  const answer = await sendRaw(
    baseUrl,
    get() + resolve('home') + resolve('nowhere') + get() + get('connection: close'),
  );
  assert.deepEqual(answer.statuses, [200, 200, 200, 200, 200]);
  const found = [...answer.text.matchAll(/"workspaceId":(null|"ws_)/g)].map(([, id]) => id);
  assert.deepEqual(found, ['"ws_', '"ws_', 'null']);
  const ids = [...answer.text.matchAll(/x-request-id: (\w+)/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, 5);
});

test('a truncated body and one that is too large are refused while other requests are served', async (t) => {
  const { baseUrl, head, isHealthy } = await setupSockets(t);
  const tooLarge = await sendRaw(baseUrl, head('content-length: 999999999', 'connection: close'));
  assert.deepEqual(tooLarge.statuses, [413], tooLarge.text);
  assert.match(tooLarge.text, /BODY_TOO_LARGE/);
  await isHealthy();
});

test('an undecodable path is 404 with an id, and the answer does not repeat it', async (t) => {
  const { baseUrl, get } = await setupSockets(t);
  for (const path of ['/control-plane/%zz', '/control-plane/%ff', '/%', '/control-plane/%c0%af']) {
    const request = get('connection: close').replace(health.health.path, path);
    const { text, statuses } = await sendRaw(baseUrl, request);
    assert.deepEqual(statuses, [404], text);
    assert.match(text, /x-request-id: req_/);
    assert.match(text, /"error":"NOT_FOUND"/);
    assert.ok(!text.includes(path), text);
  }
});

test('an HTTP method that the hub does not support is 405 or 404, never a 5xx', async (t) => {
  const { baseUrl, get, isHealthy } = await setupSockets(t);
  const methods = ['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'POST'];
  for (const method of methods) {
    const request = get('content-length: 0', 'connection: close').replace('GET', method);
    const { text, statuses } = await sendRaw(baseUrl, request);
    assert.deepEqual(statuses, [405], `${method}: ${text}`);
    assert.match(text, /allow: GET\r\n/);
  }
  for (const method of ['TRACE', 'PROPFIND', 'CONNECT', 'QUERY', 'PURGE']) {
    const request = get('connection: close').replace('GET', method);
    const { text, statuses } = await sendRaw(baseUrl, request);
    for (const status of statuses)
      assert.ok([400, 404, 405].includes(status), `${method}: ${text}`);
  }
  await isHealthy();
});
