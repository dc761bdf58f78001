import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  consoleEndpointList,
  consoleEndpoints,
  type ErrorCode,
  endpoints,
} from '@signalbox/contract';
import { type Caller, type ConsoleWorld, callers, setupConsole } from './console-world.ts';
import { logDeviceIn, PASSWORD, type Visitor } from './identity-harness.ts';

/*
 * Who may do what at the console: every row of its table × everybody who may sit there. An
 * endpoint without a row here fails.
 */

type Verdicts = Record<Caller, 'ok' | ErrorCode>;

const anybody: Verdicts = {
  owner: 'ok',
  admin: 'ok',
  member: 'ok',
  viewer: 'ok',
  stranger: 'ok',
  nobody: 'ok',
};
const signedIn: Verdicts = { ...anybody, nobody: 'SESSION_REQUIRED' };
const everyMember: Verdicts = { ...signedIn, stranger: 'WORKSPACE_NOT_FOUND' };
const administrators: Verdicts = { ...everyMember, member: 'NOT_ALLOWED', viewer: 'NOT_ALLOWED' };
const all = (code: ErrorCode): Verdicts =>
  Object.fromEntries(callers.map((caller) => [caller, code])) as Verdicts;

const verdicts: Record<string, Verdicts> = {
  consoleSessionGet: anybody,
  consoleSessionSignIn: { ...anybody, nobody: 'SIGN_IN_FAILED' },
  consoleSessionSignOut: anybody,
  consoleSessionList: signedIn,
  consoleSessionRevoke: signedIn,
  consoleFirstOwnerCheck: anybody,
  consoleFirstOwnerCreate: all('FIRST_OWNER_LINK_INVALID'),
  consoleDeviceApprovalOpen: signedIn,
  consoleDeviceApprovalAnswer: {
    ...signedIn,
    viewer: 'NOT_ALLOWED',
    stranger: 'NOT_ALLOWED',
  },
  consoleAccountUpdate: signedIn,
  consoleAccountChangePassword: signedIn,
  consoleWorkspaceCreate: signedIn,
  consoleWorkspaceGet: everyMember,
  consoleWorkspaceUpdate: administrators,
  consoleMemberList: everyMember,
  consoleMemberChangeRole: administrators,
  consoleMemberRemove: administrators,
  consoleMemberLeave: everyMember,
  consoleInvitationCreate: administrators,
  consoleInvitationList: administrators,
  consoleInvitationRevoke: administrators,
  consoleInvitationCheck: anybody,
  consoleInvitationAccept: anybody,
  consoleServiceTokenList: administrators,
  consoleServiceTokenMint: administrators,
  consoleServiceTokenRevoke: administrators,
  consoleDeviceTokenList: everyMember,
  // Here of the member's machine: nobody learns of another's.
  consoleDeviceTokenRevoke: { ...everyMember, viewer: 'TOKEN_NOT_FOUND' },
  consoleMailAccountList: administrators,
  consoleMailAccountPut: administrators,
  consoleMailAccountRemove: administrators,
  consoleAuditList: administrators,
  consoleAuditExport: administrators,
  consoleAuditVerify: administrators,
};

type MakeBody = (
  world: ConsoleWorld,
  browser: Visitor,
  caller: Caller,
) => Promise<Record<string, unknown>> | Record<string, unknown>;

const inWorkspace: MakeBody = ({ workspaceId }) => ({ workspaceId });
const nothing: MakeBody = () => ({});
let drawn = 0;
const draw = (prefix: string) => `${prefix}-${++drawn}`;

const somebodyElse: MakeBody = async ({ workspaceId, addMember }) => ({
  workspaceId,
  personId: (await addMember('member')).personId,
  role: 'viewer',
});

const startDevice: MakeBody = async ({ hub }) => {
  const { deviceId } = await hub.visitor().call(endpoints.devices.start, { workspaceSlug: 'acme' });
  return { deviceId };
};

const { serviceTokens, deviceTokens, deviceApprovals, mailAccounts, session } = consoleEndpoints;

const newMailAccount = ({ workspaceId }: ConsoleWorld) => ({
  ...mailAccounts.put.example.request,
  workspaceId,
  name: draw('mail'),
});

/** A request that can succeed, with things of its own where it changes them. */
const bodies: Record<string, MakeBody> = {
  consoleSessionGet: nothing,
  consoleSessionSignIn: async (_world, browser) => ({
    email: (await browser.call(session.get, {})).person?.email ?? 'nobody@acme.dev',
    password: PASSWORD,
  }),
  consoleSessionSignOut: nothing,
  consoleSessionList: nothing,
  consoleSessionRevoke: () => ({ sessionId: 'ses_unknown' }),
  consoleFirstOwnerCheck: () => ({ linkToken: 'none' }),
  consoleFirstOwnerCreate: () => ({ ...consoleEndpoints.firstOwner.create.example.request }),
  consoleDeviceApprovalOpen: startDevice,
  consoleDeviceApprovalAnswer: async (world, browser, caller) => {
    const { deviceId } = await startDevice(world, browser, caller);
    await browser.codeOf(deviceApprovals.open, { deviceId: String(deviceId) });
    return { deviceId, decision: 'deny' };
  },
  consoleAccountUpdate: (_world, _browser, caller) => ({ name: caller }),
  consoleAccountChangePassword: () => ({ password: PASSWORD, newPassword: PASSWORD }),
  consoleWorkspaceCreate: () => ({ slug: draw('workspace'), name: 'Another' }),
  consoleWorkspaceGet: inWorkspace,
  consoleWorkspaceUpdate: ({ workspaceId }) => ({ workspaceId, name: draw('Acme') }),
  consoleMemberList: inWorkspace,
  consoleMemberChangeRole: somebodyElse,
  consoleMemberRemove: somebodyElse,
  consoleMemberLeave: inWorkspace,
  consoleInvitationCreate: ({ workspaceId }) => ({
    workspaceId,
    email: `${draw('guest')}@acme.dev`,
    role: 'member',
  }),
  consoleInvitationList: inWorkspace,
  consoleInvitationRevoke: async ({ workspaceId, invite }) => ({
    workspaceId,
    invitationId: (await invite(`${draw('guest')}@acme.dev`)).invitationId,
  }),
  consoleInvitationCheck: () => ({ linkToken: 'none' }),
  consoleInvitationAccept: async ({ invite }) => ({
    linkToken: (await invite(`${draw('guest')}@acme.dev`)).linkToken,
    name: 'Guest',
    password: PASSWORD,
  }),
  consoleServiceTokenList: inWorkspace,
  consoleServiceTokenMint: ({ workspaceId }) => ({ workspaceId, name: 'CI' }),
  consoleServiceTokenRevoke: async ({ workspaceId, browsers }) => {
    const { owner } = browsers;
    const { serviceToken } = await owner.call(serviceTokens.mint, { workspaceId, name: 'CI' });
    return { workspaceId, tokenId: serviceToken.tokenId };
  },
  consoleDeviceTokenList: inWorkspace,
  consoleDeviceTokenRevoke: async ({ hub, workspaceId, browsers }) => {
    await logDeviceIn(hub, browsers.member);
    const { tokens } = await browsers.member.call(deviceTokens.list, { workspaceId });
    return { workspaceId, tokenId: tokens[0]?.tokenId };
  },
  consoleMailAccountList: inWorkspace,
  consoleMailAccountPut: newMailAccount,
  consoleMailAccountRemove: async (world) => {
    const { owner } = world.browsers;
    const { account } = await owner.call(mailAccounts.put, newMailAccount(world));
    return { workspaceId: world.workspaceId, accountId: account.accountId };
  },
  consoleAuditList: inWorkspace,
  consoleAuditExport: inWorkspace,
  consoleAuditVerify: inWorkspace,
};

/** Those that end what the other calls need. */
const goLast = ['consoleInvitationAccept', 'consoleMemberLeave', 'consoleSessionSignOut'];
const inOrder = consoleEndpointList.toSorted(
  (a, b) => goLast.indexOf(a.name) - goLast.indexOf(b.name),
);

async function codeOf(browser: Visitor, path: string, body: unknown): Promise<string> {
  const response = await browser.post(path, body);
  const text = await response.text();
  return response.status === 200 ? 'ok' : String((JSON.parse(text) as { error: string }).error);
}

test('every console endpoint lets in exactly those whom the policy table names', async (t) => {
  const world = await setupConsole(t);
  // So that the owner, too, can leave.
  await world.addMember('owner');
  for (const { name, path } of inOrder) {
    await t.test(path, async () => {
      const [expected, makeBody] = [verdicts[name], bodies[name]];
      assert.ok(expected && makeBody, `${name} has no row in the policy table`);
      for (const caller of callers) {
        // Accepting an invitation signs in as somebody else.
        const isGuest = name === 'consoleInvitationAccept';
        const browser = isGuest ? world.hub.visitor() : world.browsers[caller];
        const body = await makeBody(world, browser, caller);
        assert.equal(await codeOf(browser, path, body), expected[caller], `${name}, ${caller}`);
      }
    });
  }
});

test('no console endpoint takes a bearer, another site or a method but POST', async (t) => {
  const world = await setupConsole(t);
  const { hub, workspaceId, browsers } = world;
  const { owner } = browsers;
  const { token } = await owner.call(serviceTokens.mint, { workspaceId, name: 'CI' });
  const program = hub.visitor().withToken(token);
  for (const endpoint of consoleEndpointList) {
    const { path, auth, example } = endpoint;
    const crossSite = await owner.send(path, example.request, { 'sec-fetch-site': 'cross-site' });
    assert.equal(crossSite.body.error, 'NOT_ALLOWED', path);
    if (auth !== 'session') continue;
    assert.equal((await program.send(path, example.request)).body.error, 'SESSION_REQUIRED', path);
  }
  const got = await fetch(hub.address + consoleEndpoints.members.list.path);
  assert.deepEqual([got.status, got.headers.get('allow')], [405, 'POST']);
});

test('every row of the policy table is about an endpoint of the console', () => {
  const names = consoleEndpointList.map(({ name }) => name).toSorted();
  assert.deepEqual(Object.keys(verdicts).toSorted(), names);
  assert.deepEqual(Object.keys(bodies).toSorted(), names);
});
