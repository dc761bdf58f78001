import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { BODY_BYTES_MAX } from '@signalbox/contract';
import { connectAssistant, postMessage } from '../support/assistant.ts';
import { startHomeWorld } from '../support/home-world.ts';

const list = { id: 1, method: 'tools/list' };

test('a page of another site is refused before its token is looked at', async (t) => {
  const { hub, home } = await startHomeWorld(t);
  const { origin } = new URL(hub.baseUrl);
  const refused = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of refused) {
    const answer = await postMessage(hub.baseUrl, home.token, list, headers);
    const { error } = (await answer.json()) as { error: string };
    assert.equal(error, 'NOT_ALLOWED', JSON.stringify(headers));
  }
  assert.equal((await postMessage(hub.baseUrl, home.token, list, { origin })).status, 200);
});

test('a name of another site that leads to this hub is refused', async (t) => {
  const { hub, home } = await startHomeWorld(t);
  const post = async (host: string) => {
    const headers = { host, origin: `http://${host}`, authorization: `Bearer ${home.token}` };
    const sent = request(`${hub.baseUrl}/mcp`, { method: 'POST', headers });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const { error } = JSON.parse(await text(answer)) as { error?: string };
    return error;
  };
  assert.equal(await post('rebound.example'), 'NOT_ALLOWED');
  assert.notEqual(await post(new URL(hub.baseUrl).host), 'NOT_ALLOWED');
});

test('a message needs a token, and says so as every endpoint does', async (t) => {
  const { hub } = await startHomeWorld(t);
  const answer = await postMessage(hub.baseUrl, null, list);
  assert.equal(answer.status, 401);
  assert.match(String(answer.headers.get('www-authenticate')), /^Bearer/);
});

test('a hub without authentication still needs a token for assistants', async (t) => {
  const { hub } = await startHomeWorld(t, { config: { devAllowUnauth: true } });
  const answer = await postMessage(hub.baseUrl, null, list);
  const { error, message } = (await answer.json()) as { error: string; message: string };
  assert.equal(error, 'NOT_ALLOWED');
  assert.match(message, /signalbox login/);
});

test('other methods, other paths and large bodies are refused', async (t) => {
  const { hub, home } = await startHomeWorld(t);
  for (const method of ['GET', 'DELETE']) {
    const { status, headers } = await fetch(`${hub.baseUrl}/mcp`, { method });
    assert.equal(status, 405);
    assert.equal(headers.get('allow'), 'POST');
  }
  const page = { headers: { accept: 'text/html' } };
  for (const path of ['/mcp/other', '/.well-known/oauth-protected-resource/other']) {
    assert.equal((await fetch(hub.baseUrl + path, page)).status, 404);
  }
  const long = { ...list, params: { text: 'x'.repeat(BODY_BYTES_MAX) } };
  assert.equal((await postMessage(hub.baseUrl, home.token, long)).status, 413);
});

test('messages that are no calls are answered by the protocol, and no stream stays open', async (t) => {
  const { hub, home } = await startHomeWorld(t);
  const post = (message: object) => postMessage(hub.baseUrl, home.token, message);
  assert.equal((await post({ method: 'notifications/initialized' })).status, 202);
  const unknown = await post({ id: 2, method: 'tools/call', params: { name: 'drop_tables' } });
  assert.match(await unknown.text(), /drop_tables/);
  const { client } = await connectAssistant(t, hub.baseUrl, home.token);
  assert.equal(client.getServerVersion()?.name, 'signalbox');
  await assert.rejects(client.listen({ toolsListChanged: true }));
});

test('calls count against the limits of the caller, as on every path', async (t) => {
  const { hub, home } = await startHomeWorld(t, { config: { tokenRate: 60 } });
  const { call } = await connectAssistant(t, hub.baseUrl, home.token);
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => call('list_jobs').catch(String)),
  );
  const refused = replies.filter((reply) => /RATE_LIMITED|429/.test(JSON.stringify(reply)));
  assert.ok(refused.length > 0 && refused.length < replies.length, JSON.stringify(replies));
});

test('more messages than a caller may have under way wait, and all are answered', async (t) => {
  const { hub, home } = await startHomeWorld(t);
  const { call } = await connectAssistant(t, hub.baseUrl, home.token);
  const replies = await Promise.all(Array.from({ length: 100 }, () => call('list_jobs')));
  assert.deepEqual(new Set(replies.map(({ text }) => text)), new Set(['Jobs: 0.']));
});
