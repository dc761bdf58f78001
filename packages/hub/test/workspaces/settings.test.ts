import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import {
  type ConsoleScenario,
  runConsoleScenario,
  startConsoleWorld,
} from '../support/console-world.ts';
import { listAudit, logDeviceIn, PASSWORD, signInAs } from '../support/people.ts';

const { workspaceSettings, account, session } = consoleEndpoints;
const NEW_PASSWORD = 'nine lanterns over harbour';
const email = 'ada@acme.dev';

test('settings of a workspace: requests and answers', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId } = world;
  const { create, get, update } = workspaceSettings;
  const scenarios: ConsoleScenario[] = [
    {
      name: 'a viewer reads them',
      endpoint: get,
      as: 'viewer',
      body: { workspaceId },
      holds: {
        role: 'viewer',
        workspace: {
          slug: 'acme',
          dataPolicy: { contentStorage: 'full', retentionDays: null, redactSecrets: true },
        },
        cloudAi: { summarizeSources: false, draftDecisionAnswers: false, model: null },
        attention: { askOwnersAfterMinutes: 15 },
      },
    },
    {
      name: 'an admin leaves questions to the person who enqueued the job',
      endpoint: update,
      as: 'admin',
      body: { workspaceId, attention: { askOwnersAfterMinutes: 0 } },
      holds: { attention: { askOwnersAfterMinutes: 0 } },
    },
    {
      name: 'an admin changes one part of the data policy',
      endpoint: update,
      as: 'admin',
      body: { workspaceId, dataPolicy: { retentionDays: 90 } },
      holds: {
        workspace: {
          name: 'Acme',
          dataPolicy: { contentStorage: 'full', retentionDays: 90, redactSecrets: true },
        },
      },
    },
    {
      name: 'an admin changes another part and the name, and the first part is kept',
      endpoint: update,
      as: 'owner',
      body: {
        workspaceId,
        name: 'Acme & Co',
        dataPolicy: { contentStorage: 'excerpt', redactSecrets: false },
      },
      holds: {
        workspace: {
          name: 'Acme & Co',
          dataPolicy: { contentStorage: 'excerpt', retentionDays: 90, redactSecrets: false },
        },
      },
    },
    {
      name: 'a retention of null keeps content until it is deleted',
      endpoint: update,
      as: 'owner',
      body: { workspaceId, dataPolicy: { retentionDays: null } },
      holds: { workspace: { dataPolicy: { retentionDays: null } } },
    },
    {
      name: 'an admin turns model calls of the hub on',
      endpoint: update,
      as: 'admin',
      body: { workspaceId, cloudAi: { summarizeSources: true, model: 'small-1' } },
      holds: {
        cloudAi: { summarizeSources: true, draftDecisionAnswers: false, model: 'small-1' },
      },
    },
    {
      name: 'a viewer reads all the changes',
      endpoint: get,
      as: 'member',
      body: { workspaceId },
      holds: {
        workspace: { name: 'Acme & Co', dataPolicy: { contentStorage: 'excerpt' } },
        cloudAi: { summarizeSources: true, draftDecisionAnswers: false, model: 'small-1' },
      },
    },
    {
      name: 'a retention of 0 days is refused',
      endpoint: update,
      as: 'owner',
      body: { workspaceId, dataPolicy: { retentionDays: 0 } },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'an empty name is refused',
      endpoint: update,
      as: 'owner',
      body: { workspaceId, name: '' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'a slug in use is refused',
      endpoint: create,
      as: 'stranger',
      body: { slug: 'acme', name: 'Acme' },
      error: 'SLUG_TAKEN',
    },
    {
      name: 'a slug that does not fit in addresses is refused',
      endpoint: create,
      as: 'member',
      body: { slug: 'Ac me', name: 'Acme' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'an admin creates a workspace and owns it',
      endpoint: create,
      as: 'admin',
      body: { slug: 'mine', name: 'Mine' },
      holds: { workspace: { slug: 'mine', name: 'Mine', role: 'owner' } },
    },
  ];
  for (const scenario of scenarios) {
    await t.test(scenario.name, () => runConsoleScenario(world, scenario));
  }
  const log = await listAudit(world.hub, workspaceId);
  const updates = log.filter(({ action }) => action === 'workspace.update');
  assert.deepEqual(
    updates.map(({ data }) => JSON.parse(data) as unknown),
    [
      { ask_owners_after_minutes: { from: 15, to: 0 } },
      { retention_days: { from: null, to: 90 } },
      {
        name: { from: 'Acme', to: 'Acme & Co' },
        content_storage: { from: 'full', to: 'excerpt' },
        redact_secrets: { from: 1, to: 0 },
      },
      { retention_days: { from: 90, to: null } },
      { summarize_sources: { from: 0, to: 1 }, model: { from: null, to: 'small-1' } },
    ],
  );
});

test('a new workspace has only its creator as a member, and its audit log says so', async (t) => {
  const { hub, browsers, personIds } = await startConsoleWorld(t);
  const { workspace } = await browsers.admin.call(workspaceSettings.create, {
    slug: 'mine',
    name: 'Mine',
  });
  const { workspaceId } = workspace;
  const { workspaces } = await browsers.admin.call(session.get, {});
  assert.deepEqual(
    workspaces.map(({ slug, role }) => [slug, role]),
    [
      ['acme', 'admin'],
      ['mine', 'owner'],
    ],
  );
  const elsewhere = await browsers.owner.codeOf(workspaceSettings.get, { workspaceId });
  assert.equal(elsewhere, 'WORKSPACE_NOT_FOUND');
  assert.deepEqual(
    (await listAudit(hub, workspaceId)).map(({ action, actor }) => [action, actor]),
    [['workspace.create', personIds.admin]],
  );
});

test('of many concurrent requests for one slug exactly one gets it', async (t) => {
  const { browsers } = await startConsoleWorld(t);
  const codes = await Promise.all(
    Array.from({ length: 10 }, () =>
      browsers.admin.codeOf(workspaceSettings.create, { slug: 'wanted', name: 'Wanted' }),
    ),
  );
  assert.deepEqual(codes.toSorted(), [...Array<string>(9).fill('SLUG_TAKEN'), 'ok']);
});

test('a person changes their name, and every page shows the new one', async (t) => {
  const { hub, browsers, workspaceId, personIds } = await startConsoleWorld(t);
  const { owner } = browsers;
  const { person } = await owner.call(account.update, { name: 'Ada King' });
  assert.deepEqual(person, { personId: personIds.owner, email, name: 'Ada King' });
  assert.equal((await owner.call(session.get, {})).person?.name, 'Ada King');
  assert.equal(await owner.codeOf(account.update, { name: '' }), 'INVALID_REQUEST');
  const entry = (await listAudit(hub, workspaceId)).at(-1);
  assert.deepEqual(
    [entry?.action, JSON.parse(entry?.data ?? '') as unknown],
    ['person.rename', { from: 'Ada Lovelace', to: 'Ada King' }],
  );
});

test('changing the password needs the current one and ends every other session and machine', async (t) => {
  const { hub, browsers, workspaceId } = await startConsoleWorld(t);
  const { owner } = browsers;
  const phone = await signInAs(hub, email);
  const machine = hub.visitor().withToken(await logDeviceIn(hub, owner));
  const change = (password: string, newPassword: string) =>
    owner.send(account.changePassword.path, { password, newPassword });
  assert.equal((await change('a wrong password', NEW_PASSWORD)).body.error, 'SIGN_IN_FAILED');
  const common = await change(PASSWORD, 'Password1!');
  assert.deepEqual(
    [common.body.error, (common.body.details as { path: string }[])[0]?.path],
    ['INVALID_REQUEST', '/newPassword'],
  );
  assert.equal((await change(PASSWORD, 'short')).body.error, 'INVALID_REQUEST');
  assert.equal((await phone.call(session.list, {})).sessions.length, 2, 'refusals end nothing');
  const done = await change(PASSWORD, NEW_PASSWORD);
  assert.deepEqual(done.body, { ok: true, sessionsEnded: 1, machinesLoggedOut: 1 });
  assert.equal(await phone.codeOf(session.list, {}), 'SESSION_REQUIRED');
  assert.equal(await owner.codeOf(session.list, {}), 'ok');
  assert.equal(await machine.codeOf(endpoints.tokens.whoami, {}), 'TOKEN_REVOKED');
  const signIn = (password: string) => hub.visitor().codeOf(session.signIn, { email, password });
  assert.equal(await signIn(PASSWORD), 'SIGN_IN_FAILED');
  assert.equal(await signIn(NEW_PASSWORD), 'ok');
  const log = await listAudit(hub, workspaceId);
  assert.ok(log.some(({ action }) => action === 'person.change-password'));
  assert.ok(!JSON.stringify(log).includes(NEW_PASSWORD));
});

test('of two concurrent changes of a password the second is refused', async (t) => {
  const { browsers } = await startConsoleWorld(t);
  const codes = await Promise.all(
    [NEW_PASSWORD, `${NEW_PASSWORD} too`].map((newPassword) =>
      browsers.owner.codeOf(account.changePassword, { password: PASSWORD, newPassword }),
    ),
  );
  assert.deepEqual(codes.toSorted(), ['SIGN_IN_FAILED', 'ok']);
});

test('guessing the current password is throttled', async (t) => {
  const { browsers } = await startConsoleWorld(t);
  const codes: string[] = [];
  for (let count = 0; count < 6; count++) {
    const body = { password: `wrong ${count}`, newPassword: NEW_PASSWORD };
    codes.push(await browsers.member.codeOf(account.changePassword, body));
  }
  assert.deepEqual(codes, [...Array<string>(5).fill('SIGN_IN_FAILED'), 'RATE_LIMITED']);
});
