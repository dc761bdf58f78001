import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, endpoints, formatToken, type Scope } from '@signalbox/contract';
import type { Config } from '../../src/start/config.ts';
import { TokenCache } from '../../src/tokens/cache.ts';
import { mintServiceToken } from '../../src/tokens/mint.ts';
import { hashToken } from '../../src/tokens/store.ts';
import { createWorkspace } from '../../src/workspaces/create.ts';
import { addPerson, listAudit, logDeviceIn, makeOwner, signInAs } from '../support/people.ts';
import { startTestHub, type TestHub } from '../support/test-hub.ts';
import { until } from '../support/until.ts';

const { whoami, revoke } = endpoints.tokens;
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

async function setup(t: TestContext, config: Partial<Config> = {}) {
  const hub = await startTestHub(t, { config });
  const workspaceId = await addWorkspace(hub, 'acme');
  return { hub, workspaceId };
}

async function addWorkspace(hub: TestHub, slug: string): Promise<string> {
  const row = await hub.database.write(null, (tx) =>
    createWorkspace(hub.deps, tx, { slug, name: slug }),
  );
  return row.workspace_id;
}

function mint(
  hub: TestHub,
  workspaceId: string,
  rest: { name?: string; scopes?: Scope[]; expiresInMs?: number } = {},
) {
  return hub.database.write(null, (tx) =>
    mintServiceToken(hub.deps, tx, { workspaceId, name: 'ci', createdBy: 'operator', ...rest }),
  );
}

/** Counts the statements by which a hub reads the tokens table. */
function countTokenReads(hub: TestHub): () => number {
  const { reader } = hub.database;
  const original = reader.firstSql.bind(reader);
  let count = 0;
  // Only observes the real reader, which still answers from the real file.
  Object.assign(reader, {
    firstSql: (sql: string, values: string[]) => {
      if (sql.includes('FROM tokens')) count += 1;
      return original(sql, values);
    },
  });
  return () => count;
}

/** The status of a call with another `Host`, which fetch does not allow to set. */
async function statusFor(hub: TestHub, host: string): Promise<number | undefined> {
  const call = request(hub.address + whoami.path, { method: 'POST', headers: { host } });
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

test('an invalid Authorization header is refused with the code for its fault', async (t) => {
  const { hub, workspaceId } = await setup(t);
  const { token } = await mint(hub, workspaceId);
  const unknown = formatToken('service', Buffer.alloc(32, 1));
  const reads = countTokenReads(hub);
  const rows: [header: string | null, code: string][] = [
    [null, 'TOKEN_MISSING'],
    ['', 'TOKEN_INVALID'],
    ['Bearer', 'TOKEN_INVALID'],
    [token, 'TOKEN_INVALID'],
    [`Basic ${token}`, 'TOKEN_INVALID'],
    [`Bearer ${token} x`, 'TOKEN_INVALID'],
    [`Bearer ${token.slice(0, -1)}`, 'TOKEN_INVALID'],
    [`Bearer ${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`, 'TOKEN_INVALID'],
    [`Bearer ${token.replace('sbx_s_', 'sbx_d_')}`, 'TOKEN_INVALID'],
  ];
  for (const [header, code] of rows) {
    const { status, body } = await hub
      .visitor()
      .send(whoami.path, {}, header === null ? {} : { authorization: header });
    assert.deepEqual([status, body.error], [401, code], String(header));
  }
  assert.equal(reads(), 0, 'no malformed token reaches the database');
  const caller = hub.visitor().withToken(unknown);
  assert.equal(await caller.codeOf(whoami, {}), 'TOKEN_INVALID');
  assert.equal(reads(), 1);
  const { status } = await hub
    .visitor()
    .send(whoami.path, {}, { authorization: `bearer  ${token}` });
  assert.equal(status, 200, 'the scheme is case-insensitive');
});

test('a service token has its scopes, expires in time, and identifies its principal', async (t) => {
  const { hub, workspaceId } = await setup(t);
  const minted = await mint(hub, workspaceId, { scopes: ['read'], expiresInMs: HOUR_MS });
  const caller = hub.visitor().withToken(minted.token);
  assert.deepEqual(await caller.call(whoami, {}), {
    ok: true,
    kind: 'service',
    principalId: 'service:ci',
    displayName: 'ci',
    workspaceId,
    workspaceSlug: 'acme',
    scopes: ['read'],
    expiresAt: new Date(minted.expiresAtMs).toISOString(),
  });
  assert.equal(await caller.codeOf(endpoints.repositories.list, { workspaceId }), 'ok');
  const upsert = { workspaceId, remoteUrlHash: 'a'.repeat(64) };
  assert.equal(await caller.codeOf(endpoints.repositories.upsert, upsert), 'NOT_ALLOWED');
  hub.clock.advance(HOUR_MS);
  assert.equal(await caller.codeOf(whoami, {}), 'TOKEN_EXPIRED');
});

test('tokens minted under one name are one principal, with all scopes but decide', async (t) => {
  const { hub, workspaceId } = await setup(t);
  const [first, second] = [await mint(hub, workspaceId), await mint(hub, workspaceId)];
  assert.equal(first.principalId, second.principalId);
  assert.notEqual(first.token, second.token);
  assert.deepEqual(first.scopes, ['agent', 'enqueue', 'read', 'integrate']);
  assert.equal(first.expiresAtMs, hub.clock.nowMs() + 365 * DAY_MS);
  const rows: [Parameters<typeof mint>[2], string][] = [
    [{ name: '' }, 'INVALID_REQUEST'],
    [{ name: 'x'.repeat(81) }, 'INVALID_REQUEST'],
    [{ name: 'a\nb' }, 'INVALID_REQUEST'],
    [{ scopes: [] }, 'INVALID_REQUEST'],
    [{ scopes: ['root' as Scope] }, 'INVALID_REQUEST'],
    [{ expiresInMs: 0 }, 'INVALID_REQUEST'],
    [{ expiresInMs: Number.NaN }, 'INVALID_REQUEST'],
  ];
  for (const [draft, code] of rows) await assert.rejects(mint(hub, workspaceId, draft), { code });
  await assert.rejects(mint(hub, 'ws_unknown'), { code: 'WORKSPACE_NOT_FOUND' });
  const actions = (await listAudit(hub, workspaceId)).map(({ action }) => action);
  assert.deepEqual(actions, ['workspace.create', 'token.mint', 'token.mint']);
});

test('a revoked token ends at once on its hub and within a second on a hub that has cached it', async (t) => {
  const { hub, workspaceId } = await setup(t);
  // The cache of another hub, which is not notified (cluster/clocks-postgres.test.ts).
  const elsewhere = new TokenCache(hub);
  const { token } = await mint(hub, workspaceId);
  const isRevokedElsewhere = async () =>
    (await elsewhere.find(hashToken(token)))?.row.revoked_at !== null;
  const here = hub.visitor().withToken(token);
  assert.equal(await here.codeOf(whoami, {}), 'ok');
  assert.equal(await isRevokedElsewhere(), false);
  assert.deepEqual(await here.call(revoke, {}), { ok: true, revoked: true });
  assert.equal(await here.codeOf(whoami, {}), 'TOKEN_REVOKED');
  assert.equal(await here.codeOf(revoke, {}), 'TOKEN_REVOKED');
  hub.clock.advance(SECOND_MS);
  assert.equal(await isRevokedElsewhere(), true);
  assert.equal((await listAudit(hub, workspaceId)).at(-1)?.action, 'token.revoke');
});

test('a busy token is read once a second, no matter how many requests use it', async (t) => {
  const { hub, workspaceId } = await setup(t);
  const { token } = await mint(hub, workspaceId);
  const reads = countTokenReads(hub);
  const callOften = () =>
    Promise.all(Array.from({ length: 20 }, () => hub.visitor().withToken(token).call(whoami, {})));
  await callOften();
  assert.equal(reads(), 1);
  hub.clock.advance(SECOND_MS - 1);
  await callOften();
  assert.equal(reads(), 1);
  hub.clock.advance(1);
  await callOften();
  assert.equal(reads(), 2);
});

test('using a device token extends it to 90 days, and not every use is written', async (t) => {
  const hub = await startTestHub(t);
  const { browser } = await makeOwner(hub);
  const caller = hub.visitor().withToken(await logDeviceIn(hub, browser));
  const readRow = () =>
    hub.database.reader.firstSql<{ last_used_at: number; expires_at: number }>(
      'SELECT last_used_at, expires_at FROM tokens',
      [],
    );
  /** The use is recorded concurrently, at any time after the answer. */
  const useAfter = async (waitMs: number, noted: { usedMs: number; endMs: number }) => {
    hub.clock.advance(waitMs);
    assert.equal(await caller.codeOf(whoami, {}), 'ok');
    await until(`the use ${waitMs} ms after the one before is recorded`, async () => {
      const row = await readRow();
      return row?.last_used_at === noted.usedMs && row.expires_at === noted.endMs;
    });
  };
  const startMs = hub.clock.nowMs();
  const endMs = startMs + 90 * DAY_MS;
  await useAfter(0, { usedMs: startMs, endMs });
  // If this use were recorded, the next, less than a minute later, would not be.
  await useAfter(59_999, { usedMs: startMs, endMs });
  await useAfter(1, { usedMs: startMs + 60_000, endMs });
  const nextDayMs = startMs + 60_000 + DAY_MS;
  await useAfter(DAY_MS, { usedMs: nextDayMs, endMs: nextDayMs + 90 * DAY_MS });
  const lastMs = nextDayMs + 90 * DAY_MS - 1;
  await useAfter(90 * DAY_MS - 1, { usedMs: lastMs, endMs: lastMs + 90 * DAY_MS });
  hub.clock.advance(90 * DAY_MS);
  assert.equal(await caller.codeOf(whoami, {}), 'TOKEN_EXPIRED');
});

test('a device has the present rights of its person', async (t) => {
  const hub = await startTestHub(t);
  const { workspaceId } = await makeOwner(hub);
  const { personId, email } = await addPerson(hub, workspaceId, 'grace', 'member');
  const token = await logDeviceIn(hub, await signInAs(hub, email));
  const caller = hub.visitor().withToken(token);
  const upsert = { workspaceId, remoteUrlHash: 'a'.repeat(64) };
  assert.equal(await caller.codeOf(endpoints.repositories.upsert, upsert), 'ok');
  const change = async (sql: string) => {
    await hub.database.write(null, (tx) => tx.runSql(sql, [personId]));
    hub.clock.advance(SECOND_MS);
  };
  await change("UPDATE memberships SET role = 'viewer' WHERE person_id = ?");
  assert.equal(await caller.codeOf(endpoints.repositories.upsert, upsert), 'NOT_ALLOWED');
  assert.deepEqual((await caller.call(whoami, {})).scopes, ['read']);
  await change('DELETE FROM memberships WHERE person_id = ?');
  assert.equal(await caller.codeOf(whoami, {}), 'TOKEN_REVOKED');
});

test('a token is refused in another workspace, whether that exists or not', async (t) => {
  const { hub, workspaceId } = await setup(t);
  const foreignId = await addWorkspace(hub, 'other');
  const caller = hub.visitor().withToken((await mint(hub, workspaceId)).token);
  const answers = [];
  for (const id of [foreignId, 'ws_unknown']) {
    const { status, body } = await caller.send(endpoints.repositories.list.path, {
      workspaceId: id,
    });
    answers.push({ status, ...body, requestId: '' });
  }
  assert.equal(answers[0]?.status, 400);
  assert.deepEqual(answers[0], answers[1]);
  const { resolve } = endpoints.workspaces;
  const nothing = { ok: true, workspaceId: null, workspace: null };
  assert.deepEqual(await caller.call(resolve, { slug: 'other' }), nothing);
  assert.deepEqual(await caller.call(resolve, { slug: 'no such' }), nothing);
  const own = await caller.call(resolve, { slug: 'acme' });
  assert.equal(own.workspaceId, workspaceId);
  assert.equal(own.workspace?.dataPolicy.contentStorage, 'full');
});

test('the global token is refused unless the operator allows it, and then grants everything', async (t) => {
  const globalToken = 'an old token of the whole hub';
  const spaceless = globalToken.replaceAll(' ', '-');
  const { hub } = await setup(t, { globalToken: spaceless });
  const refused = await hub.visitor().withToken(spaceless).send(whoami.path, {});
  assert.deepEqual([refused.status, refused.body.error], [401, 'TOKEN_INVALID']);
  const open = await setup(t, { globalToken: spaceless, allowGlobalToken: true });
  const caller = open.hub.visitor().withToken(spaceless);
  const who = await caller.call(whoami, {});
  assert.deepEqual([who.kind, who.workspaceId, who.expiresAt], ['global', null, null]);
  const { workspaceId } = open;
  assert.equal(await caller.codeOf(endpoints.repositories.list, { workspaceId }), 'ok');
  const unknown = { workspaceId: 'ws_unknown' };
  assert.equal(await caller.codeOf(endpoints.repositories.list, unknown), 'WORKSPACE_NOT_FOUND');
  assert.equal(await caller.codeOf(revoke, {}), 'NOT_ALLOWED');
  const wrong = open.hub.visitor().withToken(`${spaceless}x`);
  assert.equal(await wrong.codeOf(whoami, {}), 'TOKEN_INVALID');
});

test('development mode admits only requests without a token, and only under a local host name', async (t) => {
  const { hub, workspaceId } = await setup(t, { devAllowUnauth: true });
  const caller = hub.visitor();
  assert.equal((await caller.call(whoami, {})).kind, 'development');
  assert.equal(await caller.codeOf(endpoints.repositories.list, { workspaceId }), 'ok');
  assert.equal(
    (await caller.call(endpoints.workspaces.resolve, { slug: 'acme' })).workspaceId,
    workspaceId,
  );
  assert.equal(await caller.codeOf(revoke, {}), 'NOT_ALLOWED');
  assert.equal(await hub.visitor().withToken('nonsense').codeOf(whoami, {}), 'TOKEN_INVALID');
  assert.equal(await statusFor(hub, 'attacker.example:4400'), 401);
  assert.equal(await statusFor(hub, 'localhost:4400'), 200);
});

test('a cookie grants no control plane path, and a token no console path', async (t) => {
  const hub = await startTestHub(t);
  const { browser, workspaceId } = await makeOwner(hub);
  assert.ok(browser.cookies.has('sbx_session'));
  assert.equal(await browser.codeOf(whoami, {}), 'TOKEN_MISSING');
  const { token } = await mint(hub, workspaceId);
  const program = hub.visitor().withToken(token);
  assert.equal(await program.codeOf(consoleEndpoints.session.list, {}), 'SESSION_REQUIRED');
});
