import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { startConsoleWorld } from '../support/console-world.ts';
import { listAudit, logDeviceIn, PASSWORD, signInAs } from '../support/people.ts';

const { members, serviceTokens, account } = consoleEndpoints;
const { whoami } = endpoints.tokens;

/** An admin who has minted a token, beside one of the owner. */
async function setup(t: TestContext) {
  const world = await startConsoleWorld(t);
  const { hub, browsers, workspaceId, personIds } = world;
  const mint = async (by: 'admin' | 'owner', name: string) => {
    const { token, serviceToken } = await browsers[by].call(serviceTokens.mint, {
      workspaceId,
      name,
    });
    return { program: hub.visitor().withToken(token), tokenId: serviceToken.tokenId };
  };
  const ref = { workspaceId, personId: personIds.admin };
  const [own, owners] = [await mint('admin', 'ci-helper'), await mint('owner', 'ci')];
  return { ...world, ref, own, owners };
}

test('removing a member revokes the service tokens that they minted, and lists them', async (t) => {
  const { hub, browsers, workspaceId, ref, own, owners } = await setup(t);
  assert.equal(await own.program.codeOf(whoami, {}), 'ok');
  const removed = await browsers.owner.call(members.remove, ref);
  assert.deepEqual(removed.serviceTokens, [
    { tokenId: own.tokenId, name: 'ci-helper', revoked: true },
  ]);
  assert.equal(await own.program.codeOf(whoami, {}), 'TOKEN_REVOKED');
  assert.equal(await owners.program.codeOf(whoami, {}), 'ok');
  const audit = await listAudit(hub, workspaceId);
  const revocation = audit.findLast(({ action }) => action === 'token.revoke');
  assert.partialDeepStrictEqual(JSON.parse(revocation?.data ?? '{}'), {
    name: 'ci-helper',
    cause: 'member.remove',
  });
});

test('a removal keeps the service tokens if it says so, and lists them', async (t) => {
  const { browsers, ref, own } = await setup(t);
  const removed = await browsers.owner.call(members.remove, { ...ref, revokeServiceTokens: false });
  assert.deepEqual(removed.serviceTokens, [
    { tokenId: own.tokenId, name: 'ci-helper', revoked: false },
  ]);
  assert.equal(await own.program.codeOf(whoami, {}), 'ok');
});

test('a role that may mint no service tokens ends those that the member minted', async (t) => {
  const { browsers, ref, own } = await setup(t);
  const change = (role: 'owner' | 'admin' | 'member') =>
    browsers.owner.call(members.changeRole, { ...ref, role });
  assert.deepEqual((await change('owner')).serviceTokens, []);
  assert.deepEqual((await change('admin')).serviceTokens, []);
  assert.equal(await own.program.codeOf(whoami, {}), 'ok');
  const demoted = await change('member');
  assert.deepEqual(
    demoted.serviceTokens.map(({ name, revoked }) => [name, revoked]),
    [['ci-helper', true]],
  );
  assert.equal(await own.program.codeOf(whoami, {}), 'TOKEN_REVOKED');
});

test('leaving a workspace ends the service tokens that the person minted', async (t) => {
  const { browsers, workspaceId, own } = await setup(t);
  const left = await browsers.admin.call(members.leave, { workspaceId });
  assert.deepEqual(
    left.serviceTokens.map(({ tokenId }) => tokenId),
    [own.tokenId],
  );
  assert.equal(await own.program.codeOf(whoami, {}), 'TOKEN_REVOKED');
});

test('a changed password logs out all machines of the person, unless they choose otherwise', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, browsers, addMember } = world;
  const { email } = await addMember('member');
  const browser = await signInAs(hub, email);
  const machine = hub.visitor().withToken(await logDeviceIn(hub, browser));
  const others = hub.visitor().withToken(await logDeviceIn(hub, browsers.owner));
  const newPassword = 'nine lanterns over violet harbour';
  const kept = await browser.call(account.changePassword, {
    password: PASSWORD,
    newPassword,
    logOutMachines: false,
  });
  assert.equal(kept.machinesLoggedOut, 0);
  assert.equal(await machine.codeOf(whoami, {}), 'ok');
  const changed = await browser.call(account.changePassword, {
    password: newPassword,
    newPassword: PASSWORD,
  });
  assert.equal(changed.machinesLoggedOut, 1);
  assert.equal(await machine.codeOf(whoami, {}), 'TOKEN_REVOKED');
  assert.equal(await others.codeOf(whoami, {}), 'ok');
});
