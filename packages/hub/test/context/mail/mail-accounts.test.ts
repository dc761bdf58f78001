import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { endpoints } from '@signalbox/contract';
import { HubError } from '../../../src/base/errors.ts';
import {
  deleteMailAccount,
  listMailAccounts,
  putMailAccount,
} from '../../../src/context/mail/accounts.ts';
import { startContextWorld } from '../../support/context-world.ts';
import { readKept } from '../../support/test-engine.ts';

const { contextItems } = endpoints;
const password = 'correct horse battery staple';
type Draft = Parameters<typeof putMailAccount>[2];

async function setupAccounts(t: TestContext) {
  const context = await startContextWorld(t);
  const { hub, workspaceId } = context;
  const withoutSecret: Draft = {
    workspaceId,
    name: 'ops',
    host: 'imap.acme.dev',
    port: 993,
    tlsMode: 'tls',
    userName: 'ops@acme.dev',
    authKind: 'password',
  };
  const put = (changes: Partial<Draft>) =>
    putMailAccount(hub.deps, 'usr_ada', { ...withoutSecret, ...changes });
  return {
    ...context,
    put: (changes: Partial<Draft> = {}) => put({ secret: password, ...changes }),
    putWithoutSecret: put,
    list: () => listMailAccounts(hub.deps, workspaceId),
  };
}

const refusalOf = (path: string) => (error: unknown) =>
  error instanceof HubError &&
  error.code === 'INVALID_REQUEST' &&
  error.details?.[0]?.path === path;

const isNotFound = { code: 'MAIL_ACCOUNT_NOT_FOUND' };

test('the secret of an account is never stored readably and never shown', async (t) => {
  const { put, list, dataDir } = await setupAccounts(t);
  const account = await put();
  assert.match(account.accountId, /^mail_[0-9a-f]{32}$/);
  assert.deepEqual(await list(), [account]);
  assert.ok(!JSON.stringify(account).includes(password));
  const kept = await readKept(dataDir);
  assert.ok(kept.includes(account.accountId), 'the database holds the account');
  assert.ok(!kept.includes(password), 'the secret is readable');
});

test('an update keeps the secret only for the same server', async (t) => {
  const { put, putWithoutSecret, list } = await setupAccounts(t);
  const { accountId } = await put();
  const renamed = await putWithoutSecret({ accountId, name: 'team' });
  assert.equal(renamed.name, 'team');
  assert.equal((await list()).length, 1);
  for (const change of [
    { host: 'imap.evil.dev' },
    { port: 143 },
    { tlsMode: 'starttls' as const },
    { caCertificate: rootCertificates[0] ?? '' },
    { userName: 'eve@acme.dev' },
    { authKind: 'oauth' as const },
  ]) {
    await assert.rejects(putWithoutSecret({ accountId, ...change }), refusalOf('/secret'));
  }
  await assert.rejects(putWithoutSecret({ name: 'new' }), refusalOf('/secret'));
  const moved = await put({ accountId, host: 'imap2.acme.dev', secret: 'another' });
  assert.equal(moved.host, 'imap2.acme.dev');
});

test('names are unique in a workspace, and an update does not create an unknown account', async (t) => {
  const { put } = await setupAccounts(t);
  await put();
  await assert.rejects(put(), refusalOf('/name'));
  await assert.rejects(put({ accountId: 'mail_none', name: 'other' }), isNotFound);
});

const wrong: [what: string, change: Partial<Draft>, path: string][] = [
  ['a host that is a URL', { host: 'https://imap.acme.dev' }, '/host'],
  ['a host with a line break', { host: 'imap.acme.dev\r\n' }, '/host'],
  ['a name with a line break', { name: 'a\nb' }, '/name'],
  ['a user with a line break', { userName: 'a\r\nb' }, '/userName'],
  ['a secret with a line break', { secret: 'a\nLOGOUT' }, '/secret'],
  ['an invalid certificate', { caCertificate: 'PEM' }, '/caCertificate'],
  ['a mailbox with a line break', { mailboxes: ['a\nb'] }, '/mailboxes'],
  ['no TLS on the public internet', { host: '8.8.8.8', tlsMode: 'none' }, '/tlsMode'],
];
for (const [what, change, path] of wrong) {
  test(`an account with ${what} is refused`, async (t) => {
    const { put, list } = await setupAccounts(t);
    await assert.rejects(put(change), refusalOf(path));
    assert.deepEqual(await list(), []);
  });
}

test('another workspace cannot see, change or remove an account', async (t) => {
  const { put, list, hub, addWorkspace } = await setupAccounts(t);
  const { accountId } = await put();
  const { workspaceId } = await addWorkspace('other');
  assert.deepEqual(await listMailAccounts(hub.deps, workspaceId), []);
  await assert.rejects(put({ workspaceId, accountId }), isNotFound);
  const foreign = deleteMailAccount(hub.deps, 'usr_eve', { workspaceId, accountId });
  await assert.rejects(foreign, isNotFound);
  assert.equal((await list()).length, 1);
});

test('changes of accounts are audited, without the secret', async (t) => {
  const { put, putWithoutSecret, hub, workspaceId } = await setupAccounts(t);
  const { accountId } = await put();
  await putWithoutSecret({ accountId, name: 'team' });
  const where = { workspaceId, accountId };
  await deleteMailAccount(hub.deps, 'usr_ada', where);
  await assert.rejects(deleteMailAccount(hub.deps, 'usr_ada', where), isNotFound);
  const rows = await hub.database.reader.allSql<{ actor: string; action: string; data: string }>(
    `SELECT actor, action, data FROM audit_entries WHERE workspace_id = ? AND subject = ?
     ORDER BY seq`,
    [workspaceId, accountId],
  );
  assert.deepEqual(
    rows.map(({ actor, action }) => [actor, action]),
    ['create', 'update', 'remove'].map((verb) => ['usr_ada', `mail-account.${verb}`]),
  );
  assert.ok(!JSON.stringify(rows).includes(password));
});

test('a sealed secret that was moved to another account cannot be decrypted, and the pack says so', async (t) => {
  const { put, hub, add, build, resolve, call, workspaceId } = await setupAccounts(t);
  await put();
  await put({ name: 'other', secret: 'another' });
  await hub.database.write(null, (tx) =>
    tx.runSql(
      `UPDATE mail_accounts SET sealed_secret =
         (SELECT sealed_secret FROM mail_accounts WHERE name = 'ops')
       WHERE name = 'other' AND workspace_id = ?`,
      [workspaceId],
    ),
  );
  await hub.database.write(null, (tx) =>
    tx.runSql(`DELETE FROM mail_accounts WHERE name = 'ops' AND workspace_id = ?`, [workspaceId]),
  );
  const itemId = await add({ text: 'Cached.', kind: 'mail_message', threadRef: 'a@acme.dev' });
  await build();
  const { freshness } = await resolve({ expansionHints: ['fresh_v1'] });
  assert.equal(
    freshness.threads[0]?.message,
    'The secret of the mail account "other" cannot be decrypted: enter it again.',
  );
  const { item } = await call(contextItems.get, { workspaceId, itemId });
  assert.equal(item.text, 'Cached.');
});
