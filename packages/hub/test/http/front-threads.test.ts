import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { endpoints } from '@signalbox/contract';
import type { Config } from '../../src/config.ts';
import { openStream } from '../support/change-stream.ts';
import { startHomeWorld } from '../support/home-world.ts';
import { until } from '../support/until.ts';

const { changes, health, jobs, tokens } = endpoints;

interface Answer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

async function startWithThreads(t: TestContext, config: Partial<Config> = {}) {
  const harness = await startHomeWorld(t, { config: { frontThreads: 2, ...config } });
  const { workspaceId, repoId, token } = harness.home;
  const job = { workspaceId, repoId, kind: 'work', prompt: 'Do it.' };
  /** Opens a connection for each call, so that both threads get some. */
  const open = (path: string, headers: Record<string, string>) =>
    request(harness.hub.baseUrl + path, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', ...headers },
    });
  const send = async (path: string, body: unknown, authorization = `Bearer ${token}`) => {
    const call = open(path, { authorization });
    call.end(JSON.stringify(body));
    return readAnswer(call);
  };
  return { ...harness, workspaceId, token, job, open, send };
}

async function readAnswer(call: ReturnType<typeof request>): Promise<Answer> {
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  const text = (await answer.setEncoding('utf8').toArray()).join('');
  return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(text) };
}

test('front threads answer and refuse as the hub alone does', async (t) => {
  const { send, job } = await startWithThreads(t);
  const done = await send(jobs.enqueue.path, { ...job, extra: 1 });
  assert.equal(done.status, 200, JSON.stringify(done.body));
  assert.equal(done.headers['x-ignored-fields'], 'extra');
  assert.match(String(done.headers['x-request-id']), /^req_/);
  const elsewhere = { ...job, workspaceId: 'ws_other' };
  const refusals = [
    [await send(jobs.enqueue.path, { ...job, kind: 7 }), 400, 'INVALID_REQUEST'],
    [await send(jobs.enqueue.path, elsewhere), 400, 'WORKSPACE_NOT_FOUND'],
    [await send(jobs.enqueue.path, job, 'Bearer sbx_s_none'), 401, 'TOKEN_INVALID'],
    [await send(jobs.enqueue.path, job, ''), 401, 'TOKEN_INVALID'],
    [await send('/control-plane/none', {}), 404, 'NOT_FOUND'],
    [await send(health.health.path, {}), 405, 'METHOD_NOT_ALLOWED'],
  ] as const;
  for (const [{ status, headers, body }, expected, code] of refusals) {
    assert.deepEqual([status, body.error], [expected, code], JSON.stringify(body));
    assert.equal(body.requestId, headers['x-request-id']);
  }
});

test('a revoked token is refused on all threads at once', async (t) => {
  const { send, job, mintToken, workspaceId } = await startWithThreads(t);
  const other = `Bearer ${await mintToken(workspaceId, 'other')}`;
  const sendTen = async () => {
    const answers = Array.from({ length: 10 }, () => send(jobs.enqueue.path, job, other));
    return new Set((await Promise.all(answers)).map(({ status }) => status));
  };
  assert.deepEqual(await sendTen(), new Set([200]));
  assert.equal((await send(tokens.revoke.path, {}, other)).status, 200);
  assert.deepEqual(await sendTen(), new Set([401]));
});

test('a claim waits on a thread until its job comes or its client leaves', async (t) => {
  const { hub, open, send, job, home, workspaceId, token, addAgent } = await startWithThreads(t);
  const agentId = await addAgent(home, 'first');
  const authorization = `Bearer ${token}`;
  const wait = () => {
    const call = open(jobs.claimNext.path, { authorization });
    call.end(JSON.stringify({ workspaceId, agentId, waitMs: 60_000 }));
    return call;
  };
  const left = wait();
  await until('a claim waits', () => hub.deps.waiters.count === 1);
  left.on('error', () => undefined).destroy();
  await until('no claim waits', () => hub.deps.waiters.count === 0);
  const granted = readAnswer(wait());
  await until('a claim waits', () => hub.deps.waiters.count === 1);
  const enqueued = await send(jobs.enqueue.path, job);
  assert.equal((await granted).body.jobId, enqueued.body.jobId);
});

test('a stream of events passes through a thread, and ends with its client', async (t) => {
  const { hub, send, job, workspaceId, token } = await startWithThreads(t);
  const url = `${hub.baseUrl}${changes.stream.path}?workspaceId=${workspaceId}`;
  const stream = await openStream(url, { authorization: `Bearer ${token}` });
  await stream.next();
  const { body } = await send(jobs.enqueue.path, job);
  await stream.until('job', String(body.jobId));
  stream.leave();
  await until('the stream has ended', () => hub.feed.count === 0);
});

test('a relayed request that is refused before its body has come gets the refusal', async (t) => {
  const { open } = await startWithThreads(t);
  for (let count = 0; count < 5; count++) {
    const call = open('/console-api/v1/session/sign-in', { 'sec-fetch-site': 'same-origin' });
    call.on('error', () => undefined);
    call.end(' '.repeat(1_000_000));
    const { status, body } = await readAnswer(call);
    assert.deepEqual([status, body.error], [413, 'BODY_TOO_LARGE']);
  }
});

test('each thread limits its callers', async (t) => {
  const { send, job } = await startWithThreads(t, { frontThreads: 1, tokenRate: 5 });
  const answers = Array.from({ length: 40 }, () => send(jobs.enqueue.path, job));
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assert.deepEqual(new Set(statuses), new Set([200, 429]));
});

test('a stop answers the calls that wait on threads', async (t) => {
  const { hub, open, home, workspaceId, token, addAgent } = await startWithThreads(t);
  const agentId = await addAgent(home, 'first');
  const call = open(jobs.claimNext.path, { authorization: `Bearer ${token}` });
  call.end(JSON.stringify({ workspaceId, agentId, waitMs: 60_000 }));
  const answered = readAnswer(call);
  await until('a claim waits', () => hub.deps.waiters.count === 1);
  await hub.stop();
  const { status, body } = await answered;
  assert.deepEqual([status, body.jobId], [200, null]);
});

test('threads take no port that another hub uses', async (t) => {
  const { hub } = await startWithThreads(t);
  const port = Number(new URL(hub.baseUrl).port);
  await assert.rejects(startWithThreads(t, { port }), { code: 'EADDRINUSE' });
});
