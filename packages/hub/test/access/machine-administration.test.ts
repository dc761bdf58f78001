import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ADMINISTRATION_MS, endpoints } from '@signalbox/contract';
import { startConsoleWorld } from '../support/console-world.ts';
import { listAudit, logDeviceIn, ownerDraft, signInAs } from '../support/people.ts';
import type { Visitor } from '../support/visitor.ts';

/*
 * Members and tokens, changed by people from their own machines. The policy matrix shows that
 * programs and the tools of jobs may not.
 */

const { members, invitations, serviceTokens, deviceTokens, tokens } = endpoints;

type Role = 'owner' | 'admin' | 'member';

/** A workspace, and a machine of a person with each role that may have machines. */
async function setup(t: TestContext) {
  const world = await startConsoleWorld(t);
  const { hub, browsers } = world;
  const machineOf = async (role: Role) => {
    const token = await logDeviceIn(hub, browsers[role], { machineName: role });
    return hub.visitor().withToken(token);
  };
  const machines: Record<Role, Visitor> = {
    owner: await machineOf('owner'),
    admin: await machineOf('admin'),
    member: await machineOf('member'),
  };
  return { ...world, machines };
}

test('a machine acts with the role of its person, and with no more', async (t) => {
  const { machines, workspaceId, personIds } = await setup(t);
  const codes = async (machine: Visitor) => ({
    list: await machine.codeOf(members.list, { workspaceId }),
    invite: await machine.codeOf(invitations.create, {
      workspaceId,
      email: 'grace@acme.dev',
      role: 'member',
    }),
    inviteOwner: await machine.codeOf(invitations.create, {
      workspaceId,
      email: 'grace@acme.dev',
      role: 'owner',
    }),
    invitations: await machine.codeOf(invitations.list, { workspaceId }),
    demoteOwner: await machine.codeOf(members.changeRole, {
      workspaceId,
      personId: personIds.owner,
      role: 'viewer',
    }),
    promote: await machine.codeOf(members.changeRole, {
      workspaceId,
      personId: personIds.member,
      role: 'owner',
    }),
    mint: await machine.codeOf(serviceTokens.mint, { workspaceId, name: 'ci' }),
    tokens: await machine.codeOf(serviceTokens.list, { workspaceId }),
    machines: await machine.codeOf(deviceTokens.list, { workspaceId }),
    allMachines: await machine.codeOf(deviceTokens.list, { workspaceId, of: 'everybody' }),
  });
  const refused = 'NOT_ALLOWED';
  assert.deepEqual(await codes(machines.member), {
    list: 'ok',
    invite: refused,
    inviteOwner: refused,
    invitations: refused,
    demoteOwner: refused,
    promote: refused,
    mint: refused,
    tokens: refused,
    machines: 'ok',
    allMachines: refused,
  });
  assert.deepEqual(await codes(machines.admin), {
    list: 'ok',
    invite: 'ok',
    inviteOwner: refused,
    invitations: 'ok',
    demoteOwner: refused,
    promote: refused,
    mint: 'ok',
    tokens: 'ok',
    machines: 'ok',
    allMachines: 'ok',
  });
  assert.deepEqual(await codes(machines.owner), {
    list: 'ok',
    invite: 'ok',
    inviteOwner: 'ok',
    invitations: 'ok',
    demoteOwner: 'LAST_OWNER',
    promote: 'ok',
    mint: 'ok',
    tokens: 'ok',
    machines: 'ok',
    allMachines: 'ok',
  });
});

test('what a machine changes is in the audit log under the name of its person', async (t) => {
  const { hub, machines, workspaceId, personIds } = await setup(t);
  const { admin } = machines;
  const minted = await admin.call(serviceTokens.mint, { workspaceId, name: 'ci' });
  assert.match(minted.token, /^sbx_s_/);
  const { tokenId } = minted.serviceToken;
  const listed = await admin.call(serviceTokens.list, { workspaceId });
  assert.ok(!JSON.stringify(listed).includes(minted.token), 'a token is shown once');
  await admin.call(serviceTokens.revoke, { workspaceId, tokenId });
  const program = hub.visitor().withToken(minted.token);
  assert.equal(await program.codeOf(tokens.whoami, {}), 'TOKEN_REVOKED');
  const audit = await listAudit(hub, workspaceId);
  const ofToken = audit.filter(({ subject }) => subject === tokenId);
  assert.deepEqual(
    ofToken.map(({ action, actor }) => [action, actor]),
    [
      ['token.mint', personIds.admin],
      ['token.revoke', personIds.admin],
    ],
  );
});

test('a machine that logged in more than an hour ago may read, and change nothing', async (t) => {
  const { hub, machines, workspaceId, personIds } = await setup(t);
  const { owner } = machines;
  const { invitation } = await owner.call(invitations.create, {
    workspaceId,
    email: 'grace@acme.dev',
    role: 'member',
  });
  const { serviceToken } = await owner.call(serviceTokens.mint, { workspaceId, name: 'ci' });
  const { tokens: own } = await owner.call(deviceTokens.list, { workspaceId });
  const changes = (machine: Visitor) => [
    () => machine.codeOf(invitations.create, { workspaceId, email: 'x@y.dev', role: 'viewer' }),
    () => machine.codeOf(invitations.revoke, { workspaceId, ...invitation }),
    () => machine.codeOf(serviceTokens.mint, { workspaceId, name: 'late' }),
    () => machine.codeOf(serviceTokens.revoke, { workspaceId, ...serviceToken }),
    () => machine.codeOf(members.remove, { workspaceId, personId: personIds.viewer }),
    () =>
      machine.codeOf(members.changeRole, {
        workspaceId,
        personId: personIds.member,
        role: 'admin',
      }),
    () => machine.codeOf(deviceTokens.revoke, { workspaceId, tokenId: own[0]?.tokenId ?? '' }),
  ];
  const run = async (machine: Visitor) => {
    const codes: string[] = [];
    for (const change of changes(machine)) codes.push(await change());
    return codes;
  };
  hub.clock.advance(ADMINISTRATION_MS + 1);
  assert.deepEqual(await run(owner), Array(7).fill('LOGIN_TOO_OLD'));
  // A clock that was set back makes no login recent.
  hub.clock.advance(-2 * ADMINISTRATION_MS);
  assert.deepEqual(await run(owner), Array(7).fill('LOGIN_TOO_OLD'));
  hub.clock.advance(2 * ADMINISTRATION_MS);
  assert.equal(await owner.codeOf(members.list, { workspaceId }), 'ok');
  assert.equal(await owner.codeOf(serviceTokens.list, { workspaceId }), 'ok');
  const { database } = hub;
  const late = await database.reader.allSql(`SELECT 1 FROM tokens WHERE name = 'late'`, []);
  assert.equal(late.length, 0);
  // The console asks for the password before it approves a login, and so does this sign-in.
  const token = await logDeviceIn(hub, await signInAs(hub, ownerDraft.email));
  assert.deepEqual(await run(hub.visitor().withToken(token)), Array(7).fill('ok'));
});

test('a demoted or removed person has no machine that administers', async (t) => {
  const { machines, workspaceId, personIds } = await setup(t);
  const { owner, admin } = machines;
  const { admin: personId } = personIds;
  await owner.call(members.changeRole, { workspaceId, personId, role: 'member' });
  assert.equal(
    await admin.codeOf(serviceTokens.mint, { workspaceId, name: 'later' }),
    'NOT_ALLOWED',
  );
  await owner.call(members.remove, { workspaceId, personId });
  assert.equal(await admin.codeOf(members.list, { workspaceId }), 'TOKEN_REVOKED');
});

test('a machine reaches no other workspace, and learns nothing of it', async (t) => {
  const { machines, other, workspaceId } = await setup(t);
  const theirs = { workspaceId: other.workspaceId };
  assert.equal(await machines.owner.codeOf(members.list, theirs), 'WORKSPACE_NOT_FOUND');
  const remove = { ...theirs, personId: other.personId };
  assert.equal(await machines.owner.codeOf(members.remove, remove), 'WORKSPACE_NOT_FOUND');
  const foreign = { workspaceId, tokenId: other.serviceTokenId };
  assert.equal(await machines.owner.codeOf(serviceTokens.revoke, foreign), 'TOKEN_NOT_FOUND');
});
