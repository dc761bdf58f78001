import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints } from '@signalbox/contract';
import {
  type ConsoleScenario,
  runConsoleScenario,
  startConsoleWorld,
} from '../../support/console-world.ts';
import { listAudit } from '../../support/people.ts';

const { mailAccounts } = consoleEndpoints;
const SECRET = 'a-mail-secret-7c1';

test('mail accounts: requests and answers', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId, browsers, hub, other } = world;
  const { list, put, remove } = mailAccounts;
  const settings = {
    workspaceId,
    name: 'Support',
    host: 'imap.acme.dev',
    port: 993,
    tlsMode: 'tls',
    userName: 'support@acme.dev',
    authKind: 'password',
  } as const;
  const { account } = await browsers.owner.call(put, { ...settings, secret: SECRET });
  const { accountId } = account;
  const foreign = await browsers.stranger.call(put, {
    ...settings,
    workspaceId: other.workspaceId,
    secret: SECRET,
  });
  const scenarios: ConsoleScenario[] = [
    {
      name: 'an admin sees them without their secrets',
      endpoint: list,
      as: 'admin',
      body: { workspaceId },
      holds: { accounts: [{ accountId, name: 'Support', mailboxes: [], caCertificate: null }] },
    },
    {
      name: 'an account keeps its secret while its host and user stay the same',
      endpoint: put,
      as: 'admin',
      body: { ...settings, accountId, name: 'Help', mailboxes: ['INBOX'] },
      holds: { account: { accountId, name: 'Help', mailboxes: ['INBOX'] } },
    },
    {
      name: 'a new host needs the secret again',
      endpoint: put,
      as: 'owner',
      body: { ...settings, accountId, host: 'imap.elsewhere.dev' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'a new account needs a secret',
      endpoint: put,
      as: 'owner',
      body: { ...settings, name: 'Sales' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'an invalid host is refused',
      endpoint: put,
      as: 'owner',
      body: { ...settings, name: 'Sales', secret: SECRET, host: 'imap acme' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'an unknown account cannot be replaced',
      endpoint: put,
      as: 'owner',
      body: { ...settings, accountId: 'mail_none', secret: SECRET },
      error: 'MAIL_ACCOUNT_NOT_FOUND',
    },
    {
      name: 'an account of another workspace cannot be replaced',
      endpoint: put,
      as: 'owner',
      body: { ...settings, accountId: foreign.account.accountId, secret: SECRET },
      error: 'MAIL_ACCOUNT_NOT_FOUND',
    },
    {
      name: 'an account of another workspace cannot be removed',
      endpoint: remove,
      as: 'owner',
      body: { workspaceId, accountId: foreign.account.accountId },
      error: 'MAIL_ACCOUNT_NOT_FOUND',
    },
    {
      name: 'an admin removes an account',
      endpoint: remove,
      as: 'admin',
      body: { workspaceId, accountId },
    },
    {
      name: 'a removed account cannot be removed again',
      endpoint: remove,
      as: 'admin',
      body: { workspaceId, accountId },
      error: 'MAIL_ACCOUNT_NOT_FOUND',
    },
  ];
  for (const scenario of scenarios) {
    await t.test(scenario.name, () => runConsoleScenario(world, scenario));
  }
  const answered = await browsers.stranger.call(list, { workspaceId: other.workspaceId });
  assert.equal(answered.accounts.length, 1);
  assert.ok(!JSON.stringify([account, foreign, answered]).includes(SECRET));
  const log = (await listAudit(hub, workspaceId)).filter(({ action }) =>
    action.startsWith('mail-account.'),
  );
  assert.deepEqual(
    log.map(({ action }) => action),
    ['mail-account.create', 'mail-account.update', 'mail-account.remove'],
  );
  const kept = await hub.database.reader.allSql('SELECT * FROM mail_accounts', []);
  assert.ok(
    !JSON.stringify([log, kept]).includes(SECRET),
    'encrypted at rest, absent from the log',
  );
});
