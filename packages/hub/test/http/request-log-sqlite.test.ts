import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import { createWorkspaceByAdmin, mintTokenByAdmin, readConfig } from '@signalbox/hub';
import { openStream } from '../support/change-stream.ts';
import { type Exchange, exchange } from '../support/http-exchange.ts';
import { startHubChild } from '../support/hub-child.ts';
import { sendRaw } from '../support/raw-socket.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { until } from '../support/until.ts';

/* The request log of a hub in a process of its own, as its error output has it. */

const { agents, changes, health, jobs, uploads, workspaces } = endpoints;
const options = { timeout: 60_000 };
const names = ['durationMs', 'error', 'method', 'reqId', 'route', 'status', 'tokenId'];

type Line = Record<string, unknown>;

/** A hub with a workspace, a token of it, and what the hub has logged until now. */
async function setup(t: TestContext, env: Record<string, string>) {
  const dataDir = makeTempDir(t);
  const config = { ...readConfig({}), dataDir };
  let text = '';
  const onErrorText = (more: string) => {
    text += more;
  };
  const { baseUrl } = await startHubChild(t, dataDir, { env, onErrorText });
  const { workspaceId } = await createWorkspaceByAdmin(config, { slug: 'home', name: 'Home' });
  const minted = await mintTokenByAdmin(config, { workspaceSlug: 'home', name: 'test' });
  const { token, tokenId } = minted;
  const requests = () =>
    text
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line)
      .filter(({ msg }) => msg === 'A request has ended.');
  const send = (sent: Exchange) => exchange(baseUrl, { token, ...sent });
  return { baseUrl, workspaceId, token, tokenId, requests, send, log: () => text };
}

type World = Awaited<ReturnType<typeof setup>>;

/** Resolves with the line of the request that was sent last. */
async function lineAfter({ requests }: World, count: number): Promise<Line> {
  await until(`${count} requests are logged`, () => requests().length >= count);
  const lines = requests();
  assert.equal(lines.length, count, 'a request has one line');
  const line = lines.at(-1) ?? {};
  const own = Object.keys(line).filter((name) => !/^(level|time|pid|hostname|msg)$/.test(name));
  assert.deepEqual(own.toSorted(), names);
  // Of a connection without a request there is no time.
  assert.match(String(line.durationMs), line.method === null ? /^null$/ : /^\d+$/);
  return line;
}

const env = { SVC_LOG_LEVEL: 'info' };

test('each request leaves one line, refused or not', options, async (t) => {
  const world = await setup(t, { ...env, SVC_LIMIT_ADDRESS: '100' });
  const { workspaceId, tokenId, token, send, baseUrl } = world;
  const resolve = workspaces.resolve.path;
  const slug = { slug: 'home' };
  const { body: upload } = await send({
    path: uploads.create.path,
    body: { workspaceId, fileName: 'a', contentType: 'text/plain', sizeBytes: 1 },
  });
  const uploadUrl = new URL(String(upload.uploadUrl));
  const put = { method: 'PUT', path: uploadUrl.pathname + uploadUrl.search, token: null };
  let count = 1;
  await lineAfter(world, count);
  /** A request, and the route, status, code and token of its line. */
  const cases: [Exchange, unknown[]][] = [
    [{ path: resolve, body: slug }, [resolve, 200, null, tokenId]],
    [{ path: resolve, body: '{' }, [resolve, 400, 'INVALID_JSON', tokenId]],
    [{ path: resolve, body: { slug: 7 } }, [resolve, 400, 'INVALID_REQUEST', tokenId]],
    [{ path: resolve, body: slug, token: `${token}x` }, [resolve, 401, 'TOKEN_INVALID', null]],
    [{ path: resolve, body: ' '.repeat(300_000) }, [resolve, 413, 'BODY_TOO_LARGE', tokenId]],
    [{ path: '/control-plane/secret-path?key=secret' }, [null, 404, 'NOT_FOUND', null]],
    [{ path: '/%zz-secret-path' }, [null, 404, 'NOT_FOUND', null]],
    [{ method: 'DELETE', path: resolve }, [resolve, 405, 'METHOD_NOT_ALLOWED', null]],
    [{ method: 'GET', path: '/?key=secret' }, ['/*', 200, null, null]],
    [{ method: 'GET', path: health.live.path }, [health.live.path, 200, null, 'anonymous']],
    [
      { path: '/console-api/v1/session/sign-in', body: {} },
      ['/console-api/v1/session/sign-in', 400, 'NOT_ALLOWED', null],
    ],
    [{ ...put, body: 'b' }, [uploads.storeBytes.path, 200, null, null]],
    [
      { ...put, path: `${put.path}x`, body: 'b' },
      [uploads.storeBytes.path, 401, 'SIGNED_URL_INVALID', null],
    ],
  ];
  for (const [sent, expected] of cases) {
    const answer = await send(sent);
    count += 1;
    const line = await lineAfter(world, count);
    const { route, status, error, tokenId: caller } = line;
    assert.deepEqual([route, status, error, caller], expected, JSON.stringify([sent, line]));
    assert.equal(line.method, sent.method ?? 'POST');
    assert.equal(line.reqId, answer.headers.get('x-request-id'));
    assert.deepEqual([answer.status, answer.body.error ?? null], [status, error]);
  }
  const raw = [
    'NOT HTTP\r\n\r\n',
    `POST ${resolve} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n` +
      'content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nbad chunk\r\n',
  ];
  for (const text of raw) {
    const answer = await sendRaw(baseUrl, text);
    count += 1;
    const { status, error, reqId } = await lineAfter(world, count);
    assert.deepEqual([[status], error], [answer.statuses, 'INVALID_REQUEST']);
    assert.match(answer.text, new RegExp(`x-request-id: ${reqId}`));
  }
  const flood = await Promise.all(
    Array.from({ length: 200 }, () => send({ path: resolve, body: slug, token: 'sbx_s_none' })),
  );
  const limited = flood.filter(({ status }) => status === 429).length;
  assert.ok(limited > 0);
  const logged = () => world.requests().filter(({ error }) => error === 'RATE_LIMITED').length;
  await until('the limited requests are logged', () => logged() === limited);
  const secret = [token, 'secret', String(upload.uploadId), uploadUrl.search];
  for (const text of secret) assert.ok(!world.log().includes(text), `no ${text} in the log`);
});

test('a request that waits leaves its line at its end', options, async (t) => {
  const world = await setup(t, env);
  const { workspaceId, tokenId, token, send, baseUrl } = world;
  const authorization = `Bearer ${token}`;
  const { body: agent } = await send({
    path: agents.heartbeat.path,
    body: { workspaceId, machineFingerprint: 'one', displayName: 'one', capabilities: {} },
  });
  await lineAfter(world, 1);
  const stream = await openStream(`${baseUrl}${changes.stream.path}?workspaceId=${workspaceId}`, {
    authorization,
  });
  await stream.next();
  const claim = request(baseUrl + jobs.claimNext.path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
  });
  claim.on('error', () => undefined);
  claim.end(JSON.stringify({ workspaceId, agentId: agent.agentId, waitMs: 60_000 }));
  await once(claim, 'finish');
  // A later request is answered meanwhile.
  await send({ method: 'GET', path: health.live.path });
  assert.equal((await lineAfter(world, 2)).route, health.live.path);
  claim.destroy();
  const left = await lineAfter(world, 3);
  assert.deepEqual([left.route, left.status], [jobs.claimNext.path, null]);
  stream.leave();
  const streamed = await lineAfter(world, 4);
  const { route, status, error, tokenId: caller } = streamed;
  assert.deepEqual([route, status, error, caller], [changes.stream.path, 200, null, tokenId]);
  assert.equal(streamed.reqId, stream.headers.get('x-request-id'));
  const answer = await send({
    path: jobs.claimNext.path,
    body: { workspaceId, agentId: agent.agentId, waitMs: 50 },
  });
  const waited = await lineAfter(world, 5);
  assert.deepEqual([waited.status, waited.tokenId], [answer.status, tokenId]);
});

test('at the default level requests leave no line', options, async (t) => {
  const { SVC_LOG_LEVEL: _level, ...rest } = process.env;
  assert.equal(readConfig(rest).logLevel, 'warn');
  const world = await setup(t, { SVC_LOG_LEVEL: 'warn' });
  const { status } = await world.send({ path: workspaces.resolve.path, body: { slug: 'home' } });
  assert.equal(status, 200);
  await world.send({ path: '/none' });
  assert.deepEqual(world.requests(), []);
  assert.equal(world.log(), '');
});
