import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type AssistantScope, consoleEndpoints, endpoints } from '@signalbox/contract';
import { postMessage, postToolCall } from '../support/assistant.ts';
import {
  allow,
  codeForm,
  logAssistantIn,
  loginOf,
  makeRequest,
  postForm,
  refreshOf,
} from '../support/oauth.ts';
import { addPerson, listAudit, logDeviceIn, makeOwner, signInAs } from '../support/people.ts';
import { startTestHub } from '../support/test-hub.ts';
import { until } from '../support/until.ts';

const { assistantConsents, deviceTokens, members } = consoleEndpoints;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const allScopes: AssistantScope[] = ['read', 'enqueue', 'answer'];

async function setup(t: TestContext) {
  const hub = await startTestHub(t);
  const { browser, personId, workspaceId } = await makeOwner(hub);
  const baseUrl = hub.address;
  const logIn = (scopes?: AssistantScope[]) =>
    logAssistantIn(baseUrl, browser, workspaceId, scopes);
  const list = (token: string) =>
    postToolCall(baseUrl, { token, name: 'list_repositories', input: {} });
  return { hub, browser, personId, workspaceId, baseUrl, logIn, list };
}

async function read(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url)).json()) as Record<string, unknown>;
}

test('a caller without a token learns where to get one', async (t) => {
  const { baseUrl } = await setup(t);
  const refused = await postMessage(baseUrl, null, { id: 1, method: 'tools/list' });
  assert.equal(refused.status, 401);
  const challenge = refused.headers.get('www-authenticate') ?? '';
  assert.match(challenge, /^Bearer scope="read enqueue answer", resource_metadata="/);
  const [, url = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
  const resource = await read(url);
  assert.equal(resource.resource, `${baseUrl}/mcp`);
  assert.deepEqual(resource.authorization_servers, [baseUrl]);
  const server = await read(`${baseUrl}/.well-known/oauth-authorization-server`);
  assert.equal(server.issuer, baseUrl);
  assert.deepEqual(server.code_challenge_methods_supported, ['S256']);
  assert.equal(server.client_id_metadata_document_supported, true);
  assert.deepEqual(server.token_endpoint_auth_methods_supported, ['none']);
  const forged = await postMessage(baseUrl, 'sbx_a_forged', { id: 1, method: 'tools/list' });
  assert.match(forged.headers.get('www-authenticate') ?? '', /^Bearer error="invalid_token"/);
  const other = await fetch(`${baseUrl}${endpoints.jobs.list.path}`, { method: 'POST' });
  assert.equal(other.headers.get('www-authenticate'), 'Bearer');
});

test('a person allows an assistant, which is listed, audited and revoked as a machine', async (t) => {
  const { hub, browser, personId, workspaceId, baseUrl, list } = await setup(t);
  const request = await makeRequest({ baseUrl });
  const opened = await browser.call(assistantConsents.open, { query: request.query });
  assert.partialDeepStrictEqual(opened, {
    clientHost: null,
    clientName: 'Test assistant',
    redirectHost: '127.0.0.1:4711',
    isLoopback: true,
    scopes: allScopes,
    workspaces: [{ workspaceId, name: 'Acme', scopes: allScopes }],
  });
  const answer = await allow(browser, workspaceId, request.query, ['read', 'enqueue']);
  assert.equal(answer.get('state'), 'k3');
  assert.equal(answer.get('iss'), baseUrl);
  const form = codeForm(request, answer.get('code'));
  const { body } = await postForm(`${baseUrl}/oauth/token`, form);
  assert.partialDeepStrictEqual(body, {
    token_type: 'Bearer',
    expires_in: 3_600,
    scope: 'read enqueue',
  });
  const { accessToken } = loginOf(request.clientId, body);
  assert.equal((await list(accessToken)).status, 200);
  const ref = { workspaceId, of: 'me' as const };
  const listed = async () => (await browser.call(deviceTokens.list, ref)).tokens;
  // The use is recorded concurrently, at any time after the answer.
  await until('the use is recorded', async () => (await listed())[0]?.lastUsedAt !== null);
  const tokens = await listed();
  assert.partialDeepStrictEqual(tokens, [
    { kind: 'assistant', machineName: 'Test assistant', personId },
  ]);
  const { tokenId = '' } = tokens[0] ?? {};
  await browser.call(deviceTokens.revoke, { workspaceId, tokenId });
  assert.equal((await list(accessToken)).status, 401);
  assert.deepEqual((await browser.call(deviceTokens.list, ref)).tokens, []);
  const login = loginOf(request.clientId, body);
  assert.equal((await refreshOf(baseUrl, login)).body.error, 'invalid_grant');
  const audit = await listAudit(hub, workspaceId);
  const ofToken = audit.filter(({ subject }) => subject === tokenId);
  assert.deepEqual(
    ofToken.map(({ action, actor }) => [action, actor]),
    [
      ['token.mint', personId],
      ['token.revoke', personId],
    ],
  );
  assert.match(ofToken[0]?.data ?? '', /"kind":"assistant"/);
});

test('a refusal gives access_denied, the state and the issuer, and no code', async (t) => {
  const { browser, baseUrl } = await setup(t);
  const { query } = await makeRequest({ baseUrl });
  const answer = { query, decision: 'refuse' as const };
  const { redirectTo } = await browser.call(assistantConsents.answer, answer);
  const given = Object.fromEntries(new URL(redirectTo).searchParams);
  assert.deepEqual(given, { error: 'access_denied', state: 'k3', iss: baseUrl });
});

test('a request that is not right is refused at the page, and goes back to no address', async (t) => {
  const { browser, workspaceId, baseUrl } = await setup(t);
  const wrong: [Record<string, string | null>, RegExp][] = [
    [{ code_challenge_method: 'plain' }, /S256/],
    [{ code_challenge_method: null }, /code_challenge_method is missing/],
    [{ code_challenge: null }, /code_challenge is missing/],
    [{ code_challenge: 'short' }, /not one of S256/],
    [{ response_type: 'token' }, /must be code/],
    [{ resource: null }, /resource is missing/],
    [{ resource: `${baseUrl}/control-plane` }, /must be .*\/mcp/],
    [{ resource: 'https://other.example/mcp' }, /must be .*\/mcp/],
    [{ redirect_uri: 'https://evil.example/cb' }, /not named this redirect_uri/],
    [{ redirect_uri: 'http://127.0.0.1:4711/callback/../evil' }, /not named this redirect_uri/],
    [{ redirect_uri: 'http://localhost:4711/callback' }, /not named this redirect_uri/],
    [{ redirect_uri: 'https://app.example/cb?more' }, /not named this redirect_uri/],
    [{ client_id: 'client_unknown' }, /does not know this client/],
    [{ scope: 'admin' }, /The scopes are/],
  ];
  for (const [params, message] of wrong) {
    const { query } = await makeRequest({ baseUrl, params });
    const answer = { query, decision: 'allow', workspaceId, scopes: ['read'] };
    for (const [row, body] of [
      [assistantConsents.open, { query }],
      [assistantConsents.answer, answer],
      [assistantConsents.answer, { query, decision: 'refuse' }],
    ] as const) {
      const refused = await browser.send(row.path, body);
      assert.equal(refused.body.error, 'INVALID_REQUEST', JSON.stringify(params));
      assert.match(String(refused.body.message), message);
      assert.doesNotMatch(JSON.stringify(refused.body), /redirectTo/);
    }
  }
  const twice = `${(await makeRequest({ baseUrl })).query}&state=other`;
  assert.equal(await browser.codeOf(assistantConsents.open, { query: twice }), 'INVALID_REQUEST');
});

test('no other site, no visitor and no stranger allows an assistant', async (t) => {
  const { hub, browser, workspaceId, baseUrl } = await setup(t);
  const { query } = await makeRequest({ baseUrl });
  const body = { query, decision: 'allow' as const, workspaceId, scopes: ['read' as const] };
  const { path } = assistantConsents.answer;
  const fromElsewhere = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  assert.equal((await browser.send(path, body, fromElsewhere)).body.error, 'NOT_ALLOWED');
  assert.equal((await hub.visitor().send(path, body)).body.error, 'SESSION_REQUIRED');
  const stranger = await addPerson(hub, workspaceId, 'eve', null);
  const eve = await signInAs(hub, stranger.email);
  assert.equal((await eve.send(path, body)).body.error, 'WORKSPACE_NOT_FOUND');
  assert.deepEqual((await eve.call(assistantConsents.open, { query })).workspaces, []);
});

test('a person gives no scope that their role or the request does not have', async (t) => {
  const { hub, browser, workspaceId, baseUrl } = await setup(t);
  const { email } = await addPerson(hub, workspaceId, 'vera', 'viewer');
  const viewer = await signInAs(hub, email);
  const { query } = await makeRequest({ baseUrl });
  const { workspaces } = await viewer.call(assistantConsents.open, { query });
  assert.deepEqual(workspaces[0]?.scopes, ['read']);
  const answer = { query, decision: 'allow' as const, workspaceId };
  const { answer: row } = assistantConsents;
  assert.equal(await viewer.codeOf(row, { ...answer, scopes: ['enqueue'] }), 'NOT_ALLOWED');
  const reads = await makeRequest({ baseUrl, params: { scope: 'read offline_access' } });
  const more = { ...answer, query: reads.query, scopes: ['read', 'answer'] as AssistantScope[] };
  assert.equal(await browser.codeOf(row, more), 'NOT_ALLOWED');
  assert.equal(await browser.codeOf(row, { ...answer, scopes: [] }), 'INVALID_REQUEST');
});

test('a code works once, for a minute, for its client, address and verifier', async (t) => {
  const { hub, browser, workspaceId, baseUrl, list } = await setup(t);
  const url = `${baseUrl}/oauth/token`;
  const request = await makeRequest({ baseUrl });
  const draw = async () =>
    codeForm(request, (await allow(browser, workspaceId, request.query)).get('code'));
  const other = await makeRequest({ baseUrl });
  const wrong: [string, Record<string, string>][] = [
    ['invalid_grant', { client_id: other.clientId }],
    ['invalid_grant', { redirect_uri: 'http://127.0.0.1:4712/callback' }],
    ['invalid_grant', { code_verifier: other.verifier }],
    ['invalid_grant', { code_verifier: '' }],
    ['invalid_grant', { code: other.verifier }],
    ['invalid_target', { resource: 'https://other.example/mcp' }],
    ['unsupported_grant_type', { grant_type: 'password' }],
  ];
  const form = await draw();
  for (const [error, change] of wrong) {
    const { status, body } = await postForm(url, { ...form, ...change });
    assert.deepEqual([status, body.error], [400, error], JSON.stringify(change));
  }
  const first = await postForm(url, { ...form, resource: `${baseUrl}/mcp` });
  assert.equal(first.status, 200, 'wrong attempts do not use it up');
  const login = loginOf(request.clientId, first.body);
  assert.equal((await list(login.accessToken)).status, 200);
  assert.equal((await postForm(url, form)).body.error, 'invalid_grant');
  assert.equal((await list(login.accessToken)).status, 401, 'what a code gave ends with its reuse');
  assert.equal((await refreshOf(baseUrl, login)).body.error, 'invalid_grant');
  const late = await draw();
  hub.clock.advance(MINUTE_MS);
  assert.equal((await postForm(url, late)).body.error, 'invalid_grant');
});

test('a member who leaves before the code is exchanged gives no access, also when back', async (t) => {
  const { hub, browser, workspaceId, baseUrl } = await setup(t);
  const { email, personId } = await addPerson(hub, workspaceId, 'grace', 'member');
  const grace = await signInAs(hub, email);
  const request = await makeRequest({ baseUrl });
  const code = (await allow(grace, workspaceId, request.query)).get('code');
  await browser.call(members.remove, { workspaceId, personId });
  const { body } = await postForm(`${baseUrl}/oauth/token`, codeForm(request, code));
  assert.equal(body.error, 'invalid_grant');
});

test('a login ends with the membership, and has no more rights than the role', async (t) => {
  const { hub, browser, workspaceId, baseUrl, list } = await setup(t);
  const { email, personId } = await addPerson(hub, workspaceId, 'grace', 'member');
  const grace = await signInAs(hub, email);
  const login = await logAssistantIn(baseUrl, grace, workspaceId, allScopes);
  const cancel = () =>
    postToolCall(baseUrl, {
      token: login.accessToken,
      name: 'cancel_job',
      input: { jobId: 'job_unknown' },
    });
  assert.match((await cancel()).reply?.text ?? '', /JOB_NOT_FOUND/);
  await browser.call(members.changeRole, { workspaceId, personId, role: 'viewer' });
  assert.equal((await list(login.accessToken)).status, 200);
  assert.match((await cancel()).reply?.text ?? '', /NOT_ALLOWED/);
  await browser.call(members.remove, { workspaceId, personId });
  assert.equal((await list(login.accessToken)).status, 401);
  assert.equal((await refreshOf(baseUrl, login)).body.error, 'invalid_grant');
});

test('a token of an assistant is refused everywhere but at /mcp', async (t) => {
  const { hub, workspaceId, baseUrl, logIn } = await setup(t);
  const { accessToken, refreshToken } = await logIn(allScopes);
  const program = hub.visitor().withToken(accessToken);
  for (const row of [endpoints.jobs.list, endpoints.tokens.whoami, endpoints.tokens.revoke]) {
    const { status, body } = await program.send(row.path, { workspaceId });
    assert.deepEqual([status, body.error], [401, 'TOKEN_INVALID'], row.name);
  }
  const message = { id: 1, method: 'tools/list' };
  assert.equal((await postMessage(baseUrl, refreshToken, message)).status, 401);
});

test('a tool that needs more has the client ask for it, with the scopes that it has', async (t) => {
  const { workspaceId, browser, baseUrl, logIn } = await setup(t);
  const { accessToken } = await logIn(['read']);
  const call = (token: string) =>
    postMessage(baseUrl, token, {
      id: 1,
      method: 'tools/call',
      params: { name: 'cancel_job', arguments: { jobId: 'job_unknown' } },
    });
  const refused = await call(accessToken);
  assert.equal(refused.status, 403);
  assert.equal(
    refused.headers.get('www-authenticate'),
    'Bearer error="insufficient_scope", scope="read enqueue", ' +
      `resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp"`,
  );
  const asked = ['read', 'enqueue'] as AssistantScope[];
  const more = await logAssistantIn(baseUrl, browser, workspaceId, asked);
  assert.match(await (await call(more.accessToken)).text(), /JOB_NOT_FOUND/);
});

test('twenty processes that refresh at the same time all get tokens that work', async (t) => {
  const { hub, baseUrl, logIn, list } = await setup(t);
  const login = await logIn();
  hub.clock.advance(HOUR_MS);
  assert.equal((await list(login.accessToken)).status, 401, 'it lived for an hour');
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => refreshOf(baseUrl, login, { resource: `${baseUrl}/mcp` })),
  );
  for (const { status, body } of answers) {
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal((await list(String(body.access_token))).status, 200);
  }
  assert.equal(new Set(answers.map(({ body }) => body.refresh_token)).size, 1, 'one family');
  const next = await refreshOf(baseUrl, loginOf(login.clientId, answers[7]?.body ?? {}));
  assert.equal((await list(String(next.body.access_token))).status, 200);
});

test('a refresh token that is used long after its turn ends the login', async (t) => {
  const { hub, workspaceId, baseUrl, logIn, list } = await setup(t);
  const login = await logIn();
  const second = loginOf(login.clientId, (await refreshOf(baseUrl, login)).body);
  hub.clock.advance(5 * MINUTE_MS);
  assert.equal((await refreshOf(baseUrl, login)).status, 200, 'forgiven for five minutes');
  const third = loginOf(login.clientId, (await refreshOf(baseUrl, second)).body);
  hub.clock.advance(1);
  assert.equal((await list(third.accessToken)).status, 200);
  assert.equal((await refreshOf(baseUrl, login)).body.error, 'invalid_grant');
  assert.equal((await list(third.accessToken)).status, 401);
  assert.equal((await refreshOf(baseUrl, third)).body.error, 'invalid_grant');
  const revoked = (await listAudit(hub, workspaceId)).at(-1);
  assert.equal(revoked?.action, 'token.revoke');
  assert.match(revoked?.data ?? '', /refresh-reuse/);
});

test('a refresh takes only its client, no more scopes, and no token that has ended', async (t) => {
  const { hub, baseUrl, logIn } = await setup(t);
  const login = await logIn(['read']);
  const other = await makeRequest({ baseUrl });
  const foreign = { ...login, clientId: other.clientId };
  assert.equal((await refreshOf(baseUrl, foreign)).body.error, 'invalid_grant');
  const wider = await refreshOf(baseUrl, login, { scope: 'read answer' });
  assert.equal(wider.body.error, 'invalid_scope');
  const asAccess = { ...login, refreshToken: login.accessToken };
  assert.equal((await refreshOf(baseUrl, asAccess)).body.error, 'invalid_grant');
  const { body } = await refreshOf(baseUrl, login, { scope: 'read' });
  assert.equal(body.scope, 'read');
  hub.clock.advance(30 * 24 * HOUR_MS);
  const late = await refreshOf(baseUrl, loginOf(login.clientId, body));
  assert.equal(late.body.error, 'invalid_grant');
});

test('a client revokes its login by either token; another text is no error', async (t) => {
  const { hub, browser, workspaceId, baseUrl, logIn, list } = await setup(t);
  const url = `${baseUrl}/oauth/revoke`;
  for (const which of ['accessToken', 'refreshToken'] as const) {
    const login = await logIn();
    assert.equal((await postForm(url, { token: login[which] })).status, 200);
    assert.equal((await list(login.accessToken)).status, 401, which);
    assert.equal((await refreshOf(baseUrl, login)).body.error, 'invalid_grant');
  }
  assert.deepEqual(await postForm(url, { token: 'unknown' }), { status: 200, body: {} });
  assert.equal((await postForm(url, { token: '' })).body.error, 'invalid_request');
  const deviceToken = await logDeviceIn(hub, browser);
  assert.equal((await postForm(url, { token: deviceToken })).status, 200);
  const whoami = await hub.visitor().withToken(deviceToken).codeOf(endpoints.tokens.whoami, {});
  assert.equal(whoami, 'ok', 'it revokes assistants only');
  assert.equal((await listAudit(hub, workspaceId)).at(-1)?.action, 'token.mint');
});
