import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import { isRedirectUriOf } from '../../src/oauth/policy.ts';
import { makeCertificate, trustCertificate } from '../support/certificate.ts';
import {
  allow,
  codeForm,
  logAssistantIn,
  makeRequest,
  postForm,
  postJson,
  REDIRECT_URI,
  registerTestClient,
} from '../support/oauth.ts';
import { makeOwner, ownerDraft, signInAs } from '../support/people.ts';
import { startTestHub } from '../support/test-hub.ts';
import { until } from '../support/until.ts';

const { assistantConsents } = consoleEndpoints;
const DAY_MS = 86_400_000;

/** An HTTPS server on this machine whose certificate this process trusts. */
async function serveDocuments(t: TestContext, listener: RequestListener): Promise<string> {
  const { cert, key } = makeCertificate(t, 'DNS:localhost', 1);
  trustCertificate(t, cert);
  const server = createServer({ cert, key }, listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

async function setup(t: TestContext, allowPrivateHosts: readonly string[] = ['localhost']) {
  const hub = await startTestHub(t, { config: { allowPrivateHosts } });
  return { hub, baseUrl: hub.address, ...(await makeOwner(hub)) };
}

test('a client is known by the host of its document', async (t) => {
  const { browser, workspaceId, baseUrl } = await setup(t);
  const origin = await serveDocuments(t, (request, response) => {
    const clientId = `${origin}${request.url}`;
    const redirect_uris = ['http://127.0.0.1/callback'];
    response.end(JSON.stringify({ client_id: clientId, client_name: 'Signalbox', redirect_uris }));
  });
  const clientId = `${origin}/client.json`;
  const request = await makeRequest({ baseUrl, clientId });
  const opened = await browser.call(assistantConsents.open, { query: request.query });
  assert.equal(opened.clientHost, new URL(origin).host);
  assert.equal(opened.clientName, 'Signalbox');
  const code = (await allow(browser, workspaceId, request.query)).get('code');
  const answer = await postForm(`${baseUrl}/oauth/token`, codeForm(request, code));
  assert.equal(answer.status, 200);
  const list = { workspaceId, of: 'me' as const };
  const { tokens } = await browser.call(consoleEndpoints.deviceTokens.list, list);
  assert.equal(tokens[0]?.machineName, new URL(origin).host);
});

test('a document that is not right, or not where it should be, is refused', async (t) => {
  const { browser, baseUrl } = await setup(t);
  const redirect_uris = ['http://127.0.0.1/callback'];
  const asked: string[] = [];
  const origin = await serveDocuments(t, (request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const own = { client_id: `${origin}${path}`, redirect_uris };
    const documents: Record<string, string> = {
      '/other-id': JSON.stringify({ ...own, client_id: `${origin}/elsewhere` }),
      '/no-id': JSON.stringify({ redirect_uris }),
      '/no-json': '<html>',
      '/list': '[]',
      '/large': JSON.stringify({ ...own, padding: 'x'.repeat(20_000) }),
      '/script': JSON.stringify({ ...own, redirect_uris: ['javascript:alert(1)'] }),
      '/other-redirect': JSON.stringify({ ...own, redirect_uris: ['https://a.example/cb'] }),
      '/good': JSON.stringify(own),
    };
    if (path === '/moved') response.writeHead(302, { location: `${origin}/good` });
    else if (documents[path] === undefined) response.writeHead(404);
    response.end(documents[path]);
  });
  const open = async (clientId: string) => {
    const { query } = await makeRequest({ baseUrl, clientId });
    return (await browser.send(assistantConsents.open.path, { query })).body;
  };
  assert.equal((await open(`${origin}/good`)).ok, true);
  const bad = [
    'other-id',
    'no-id',
    'no-json',
    'list',
    'large',
    'script',
    'other-redirect',
    'moved',
  ];
  for (const path of [...bad, 'missing']) {
    const body = await open(`${origin}/${path}`);
    assert.equal(body.error, 'INVALID_REQUEST', path);
  }
  assert.deepEqual(asked, ['/good', ...bad.map((path) => `/${path}`), '/missing']);
  for (const clientId of [`${origin}/`, `${origin}/a/../good`, origin.replace('https', 'http')]) {
    assert.match(String((await open(clientId)).message), /does not know this client/);
  }
});

test('the hub fetches no document from a private address', async (t) => {
  const { browser, baseUrl } = await setup(t, []);
  let requests = 0;
  const origin = await serveDocuments(t, (_request, response) => {
    requests += 1;
    response.end('{}');
  });
  const { query } = await makeRequest({ baseUrl, clientId: `${origin}/client.json` });
  const code = await browser.codeOf(assistantConsents.open, { query });
  assert.equal(code, 'INVALID_REQUEST');
  assert.equal(requests, 0);
});

test('a client registers itself as a public one, also when it asks for a secret', async (t) => {
  const { baseUrl } = await setup(t);
  const url = `${baseUrl}/oauth/register`;
  const asked = { redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'client_secret_post' };
  const { status, body } = await postJson(url, asked);
  assert.equal(status, 201);
  assert.equal(body.token_endpoint_auth_method, 'none');
  assert.equal(body.client_secret, undefined);
  const wrong = [
    {},
    { redirect_uris: [] },
    { redirect_uris: ['javascript:alert(1)'] },
    { redirect_uris: ['http://evil.example/cb'] },
    { redirect_uris: ['https://user:word@a.example/cb'] },
    { redirect_uris: ['https://a.example/cb#part'] },
    { redirect_uris: [REDIRECT_URI, 7] },
  ];
  for (const metadata of wrong) {
    const refused = await postJson(url, metadata);
    assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_redirect_uri']);
  }
});

test('one address registers twenty clients an hour', async (t) => {
  const { hub, baseUrl } = await setup(t);
  for (let count = 0; count < 20; count += 1) await registerTestClient(baseUrl);
  const url = `${baseUrl}/oauth/register`;
  const refused = await postJson(url, { redirect_uris: [REDIRECT_URI] });
  assert.deepEqual([refused.status, refused.body.error], [429, 'RATE_LIMITED']);
  hub.clock.advance(DAY_MS / 24);
  await registerTestClient(baseUrl);
});

test('a registered client is forgotten after a day, unless a person allowed it', async (t) => {
  const { hub, browser, workspaceId, baseUrl } = await setup(t);
  const [used, unused] = [await makeRequest({ baseUrl }), await makeRequest({ baseUrl })];
  await allow(browser, workspaceId, used.query);
  hub.clock.advance(DAY_MS);
  const again = await signInAs(hub, ownerDraft.email);
  const codeOf = ({ query }: { query: string }) => again.codeOf(assistantConsents.open, { query });
  assert.equal(await codeOf(used), 'ok');
  assert.equal(await codeOf(unused), 'INVALID_REQUEST');
});

test('clients and secrets that have ended are deleted', async (t) => {
  const { hub, browser, workspaceId, baseUrl } = await setup(t);
  await logAssistantIn(baseUrl, browser, workspaceId);
  await registerTestClient(baseUrl);
  const count = async (table: string) =>
    (await hub.database.reader.allSql(`SELECT 1 FROM ${table}`, [])).length;
  const counts = async () => [await count('oauth_secrets'), await count('oauth_clients')].join();
  assert.equal(await counts(), '2,2');
  // After a leap of the clock, a hub on PostgreSQL first has to lead again.
  const untilCounts = (wanted: string) =>
    until(`${wanted} are left`, async () => {
      await hub.hub.loops.loginRetention.runOnce();
      return (await counts()) === wanted;
    });
  hub.clock.advance(2 * DAY_MS);
  await untilCounts('1,1');
  hub.clock.advance(365 * DAY_MS);
  await untilCounts('0,0');
});

test('a redirect address is compared as text, but for the port of a loopback address', () => {
  const named = ['http://127.0.0.1/callback', 'http://localhost:1/cb?a=1', 'https://a.example/cb'];
  const rights = [
    ...['http://127.0.0.1:4711/callback', 'http://127.0.0.1/callback'],
    ...['http://localhost:9/cb?a=1', 'https://a.example/cb'],
  ];
  const wrongs = [
    ...['http://127.0.0.1:4711/other', 'http://localhost/callback', 'http://[::1]/callback'],
    ...['http://localhost:9/cb', 'https://a.example:8443/cb', 'https://a.example/cb/'],
    ...['http://a.example/cb', 'http://127.0.0.1@evil.example/callback', 'https://A.example/cb'],
    ...['http://user@127.0.0.1:1/callback', 'http://127.0.0.1:1/callback#x', 'callback', ''],
  ];
  for (const uri of rights) assert.ok(isRedirectUriOf(named, uri), uri);
  for (const uri of wrongs) assert.ok(!isRedirectUriOf(named, uri), uri);
});
