import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import {
  type ConsoleScenario,
  type ConsoleWorld,
  runConsoleScenario,
  startConsoleWorld,
} from '../support/console-world.ts';
import { listAudit, logDeviceIn, signInAs } from '../support/people.ts';

const { members, invitations, deviceTokens, session } = consoleEndpoints;

async function roleOf({ browsers, workspaceId }: ConsoleWorld, personId: string) {
  const { members: list } = await browsers.owner.call(members.list, { workspaceId, limit: 200 });
  return list.find((member) => member.personId === personId)?.role ?? null;
}

test('members: requests and answers', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId, personIds, other } = world;
  const ref = { workspaceId, personId: personIds.member };
  const change = members.changeRole;
  const scenarios: ConsoleScenario[] = [
    {
      name: 'a viewer sees all members',
      endpoint: members.list,
      as: 'viewer',
      body: { workspaceId },
      holds: { nextCursor: null, members: [{ name: 'Ada Lovelace', role: 'owner' }] },
    },
    {
      name: 'an owner changes a role',
      endpoint: change,
      as: 'owner',
      body: { ...ref, role: 'viewer' },
      holds: { member: { personId: ref.personId, role: 'viewer' } },
    },
    {
      name: 'an admin changes it back',
      endpoint: change,
      as: 'admin',
      body: { ...ref, role: 'member' },
    },
    {
      name: 'an unknown role is refused',
      endpoint: change,
      as: 'owner',
      body: { ...ref, role: 'king' },
      error: 'INVALID_REQUEST',
    },
    {
      name: 'an admin cannot make another person owner',
      endpoint: change,
      as: 'admin',
      body: { ...ref, role: 'owner' },
      error: 'NOT_ALLOWED',
    },
    {
      name: 'an admin cannot become owner by their own request',
      endpoint: change,
      as: 'admin',
      body: { workspaceId, personId: personIds.admin, role: 'owner' },
      error: 'NOT_ALLOWED',
    },
    {
      name: 'an admin cannot demote an owner',
      endpoint: change,
      as: 'admin',
      body: { workspaceId, personId: personIds.owner, role: 'member' },
      error: 'NOT_ALLOWED',
    },
    {
      name: 'an admin cannot remove an owner',
      endpoint: members.remove,
      as: 'admin',
      body: { workspaceId, personId: personIds.owner },
      error: 'NOT_ALLOWED',
    },
    {
      name: 'the last owner cannot demote themselves',
      endpoint: change,
      as: 'owner',
      body: { workspaceId, personId: personIds.owner, role: 'admin' },
      error: 'LAST_OWNER',
    },
    {
      name: 'the last owner cannot remove themselves',
      endpoint: members.remove,
      as: 'owner',
      body: { workspaceId, personId: personIds.owner },
      error: 'LAST_OWNER',
    },
    {
      name: 'the last owner cannot leave',
      endpoint: members.leave,
      as: 'owner',
      body: { workspaceId },
      error: 'LAST_OWNER',
    },
    {
      name: 'a person of another workspace is not a member',
      endpoint: members.remove,
      as: 'owner',
      body: { workspaceId, personId: other.personId },
      error: 'MEMBER_NOT_FOUND',
    },
    {
      name: 'an unknown person is not a member',
      endpoint: change,
      as: 'owner',
      body: { workspaceId, personId: 'usr_nobody', role: 'viewer' },
      error: 'MEMBER_NOT_FOUND',
    },
  ];
  for (const scenario of scenarios) {
    await t.test(scenario.name, () => runConsoleScenario(world, scenario));
  }
  assert.equal(await roleOf(world, personIds.owner), 'owner');
  assert.equal(await roleOf(world, personIds.admin), 'admin');
});

test('members are listed in pages, each once', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId, browsers } = world;
  const seen: string[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await browsers.viewer.call(members.list, {
      workspaceId,
      limit: 3,
      ...(cursor === undefined ? {} : { cursor }),
    });
    seen.push(...page.members.map(({ role }) => role));
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  assert.deepEqual(seen, ['owner', 'admin', 'member', 'viewer']);
});

test('a role takes effect at the next request, for the console and for machines', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers, personIds } = world;
  const terminal = hub.visitor().withToken(await logDeviceIn(hub, browsers.member));
  const enqueue = { workspaceId, repoId: 'repo_none', kind: 'work', prompt: 'Do it.' } as const;
  assert.equal(await terminal.codeOf(endpoints.jobs.enqueue, enqueue), 'REPO_NOT_FOUND');
  const ref = { workspaceId, personId: personIds.member };
  await browsers.owner.call(members.changeRole, { ...ref, role: 'viewer' });
  assert.equal(await terminal.codeOf(endpoints.jobs.enqueue, enqueue), 'NOT_ALLOWED');
  await browsers.owner.call(members.changeRole, { ...ref, role: 'admin' });
  const invite = { workspaceId, email: 'guest@acme.dev', role: 'member' } as const;
  assert.equal(await browsers.member.codeOf(invitations.create, invite), 'ok');
});

test('a removed member loses access at once, with their machines, and only in this workspace', async (t) => {
  const world = await startConsoleWorld(t, { config: { workspaceCreation: 'everyone' } });
  const { hub, workspaceId, browsers, personIds } = world;
  const { member, owner } = browsers;
  const { workspace: own } = await member.call(consoleEndpoints.workspaceSettings.create, {
    slug: 'own',
    name: 'Own',
  });
  const here = hub.visitor().withToken(await logDeviceIn(hub, member));
  const there = hub
    .visitor()
    .withToken(await logDeviceIn(hub, member, { workspaceSlug: own.slug }));
  await owner.call(members.remove, { workspaceId, personId: personIds.member });
  assert.equal(await here.codeOf(endpoints.tokens.whoami, {}), 'TOKEN_REVOKED');
  assert.equal(await there.codeOf(endpoints.tokens.whoami, {}), 'ok');
  assert.equal(await member.codeOf(members.list, { workspaceId }), 'WORKSPACE_NOT_FOUND');
  const state = await member.call(session.get, {});
  assert.deepEqual(
    state.workspaces.map(({ slug }) => slug),
    [own.slug],
  );
  // A person who rejoins has to log their machines in again.
  const { linkToken } = await world.invite(state.person?.email ?? '');
  await member.call(invitations.accept, { linkToken });
  assert.equal(await here.codeOf(endpoints.tokens.whoami, {}), 'TOKEN_REVOKED');
  assert.deepEqual((await member.call(deviceTokens.list, { workspaceId })).tokens, []);
});

test('when a member leaves, the open invitations that they made end', async (t) => {
  const world = await startConsoleWorld(t);
  const { workspaceId, browsers } = world;
  const { admin, owner } = browsers;
  const draft = { workspaceId, email: 'friend@acme.dev', role: 'admin' } as const;
  await admin.call(invitations.create, draft);
  await admin.call(members.leave, { workspaceId });
  assert.equal(await admin.codeOf(members.leave, { workspaceId }), 'WORKSPACE_NOT_FOUND');
  const { invitations: open } = await owner.call(invitations.list, { workspaceId });
  assert.deepEqual(open, []);
});

test('a lower role ends only the invitations that the role could not make', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers } = world;
  const second = await world.addMember('owner');
  const browser = await signInAs(hub, second.email);
  for (const role of ['owner', 'member'] as const) {
    await browser.call(invitations.create, { workspaceId, email: `${role}@acme.dev`, role });
  }
  const listOpen = async () => {
    const { invitations: open } = await browsers.owner.call(invitations.list, { workspaceId });
    return open.map(({ email }) => email);
  };
  const ref = { workspaceId, personId: second.personId };
  await browsers.owner.call(members.changeRole, { ...ref, role: 'admin' });
  assert.deepEqual(await listOpen(), ['member@acme.dev']);
  await browsers.owner.call(members.changeRole, { ...ref, role: 'member' });
  assert.deepEqual(await listOpen(), []);
});

test('two owners who demote each other at once leave one owner', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers, personIds } = world;
  const second = await world.addMember('owner');
  const browser = await signInAs(hub, second.email);
  const codes = await Promise.all([
    browsers.owner.codeOf(members.changeRole, {
      workspaceId,
      personId: second.personId,
      role: 'member',
    }),
    browser.codeOf(members.changeRole, {
      workspaceId,
      personId: personIds.owner,
      role: 'member',
    }),
  ]);
  assert.deepEqual(codes.toSorted(), ['NOT_ALLOWED', 'ok']);
  const rows = await hub.database.reader.allSql(
    "SELECT 1 FROM memberships WHERE workspace_id = ? AND role = 'owner'",
    [workspaceId],
  );
  assert.equal(rows.length, 1);
});

test('the audit log has every change of a member, with its kind and its actor', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers, personIds } = world;
  const ref = { workspaceId, personId: personIds.member };
  await browsers.admin.call(members.changeRole, { ...ref, role: 'viewer' });
  // Repeating it changes nothing and is not logged.
  await browsers.admin.call(members.changeRole, { ...ref, role: 'viewer' });
  await browsers.owner.call(members.remove, ref);
  await browsers.viewer.call(members.leave, { workspaceId });
  const log = await listAudit(hub, workspaceId);
  const about = log.filter(({ action }) => action.startsWith('member.'));
  assert.deepEqual(
    about.map(({ action, actor, data }) => [action, actor, JSON.parse(data) as unknown]),
    [
      [
        'member.change-role',
        personIds.admin,
        { from: 'member', to: 'viewer', invitationsRevoked: 0 },
      ],
      [
        'member.remove',
        personIds.owner,
        { role: 'viewer', tokensRevoked: 0, invitationsRevoked: 0 },
      ],
      [
        'member.leave',
        personIds.viewer,
        { role: 'viewer', tokensRevoked: 0, invitationsRevoked: 0 },
      ],
    ],
  );
});
