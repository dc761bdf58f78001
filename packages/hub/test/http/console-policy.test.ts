import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleEndpointList, consoleEndpoints, type ErrorCode } from '@signalbox/contract';
import { requestMakers } from '../support/console-requests.ts';
import { type Caller, callers, startConsoleWorld } from '../support/console-world.ts';
import type { Visitor } from '../support/visitor.ts';

/*
 * The permissions of the console: every endpoint × every kind of caller. An endpoint without a
 * row here fails.
 */

type Verdicts = Record<Caller, 'ok' | ErrorCode>;

const anybody: Verdicts = {
  owner: 'ok',
  admin: 'ok',
  member: 'ok',
  viewer: 'ok',
  stranger: 'ok',
  visitor: 'ok',
};
const signedIn: Verdicts = { ...anybody, visitor: 'SESSION_REQUIRED' };
const everyMember: Verdicts = { ...signedIn, stranger: 'WORKSPACE_NOT_FOUND' };
const administrators: Verdicts = { ...everyMember, member: 'NOT_ALLOWED', viewer: 'NOT_ALLOWED' };
const deciders: Verdicts = { ...everyMember, viewer: 'NOT_ALLOWED' };
const all = (code: ErrorCode): Verdicts =>
  Object.fromEntries(callers.map((caller) => [caller, code])) as Verdicts;

const verdicts: Record<string, Verdicts> = {
  consoleSessionGet: anybody,
  consoleSessionSignIn: { ...anybody, visitor: 'SIGN_IN_FAILED' },
  consoleSessionSignInByLink: all('SIGN_IN_LINK_INVALID'),
  consoleSessionSignOut: anybody,
  consoleSessionList: signedIn,
  consoleSessionRevoke: signedIn,
  consoleFirstOwnerCheck: anybody,
  consoleFirstOwnerCreate: all('FIRST_OWNER_LINK_INVALID'),
  consolePasswordResetCheck: anybody,
  consolePasswordResetSetPassword: all('PASSWORD_RESET_LINK_INVALID'),
  consoleDeviceApprovalOpen: signedIn,
  consoleDeviceApprovalAnswer: {
    ...signedIn,
    viewer: 'NOT_ALLOWED',
    stranger: 'NOT_ALLOWED',
  },
  consoleAssistantConsentOpen: signedIn,
  consoleAssistantConsentAnswer: everyMember,
  consoleAccountUpdate: signedIn,
  consoleAccountChangePassword: signedIn,
  consoleWorkspaceCreate: { ...signedIn, member: 'NOT_ALLOWED', viewer: 'NOT_ALLOWED' },
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
  consoleIntegrationSecretMint: administrators,
  consoleIntegrationSecretList: administrators,
  consoleIntegrationSecretRevoke: administrators,
  consoleServiceTokenList: administrators,
  consoleServiceTokenMint: administrators,
  consoleServiceTokenRevoke: administrators,
  consoleDeviceTokenList: everyMember,
  // The token of the member's own machine; other callers must not learn of it.
  consoleDeviceTokenRevoke: { ...everyMember, viewer: 'TOKEN_NOT_FOUND' },
  consoleMailAccountList: administrators,
  consoleMailAccountPut: administrators,
  consoleMailAccountRemove: administrators,
  consoleNotificationChannelList: everyMember,
  consoleNotificationChannelPut: everyMember,
  consoleNotificationChannelRemove: everyMember,
  consoleNotificationChannelTest: everyMember,
  consoleNotificationChannelMessages: everyMember,
  // A message that does not exist.
  consoleNotificationChannelSendAgain: {
    ...all('NOTIFICATION_NOT_FOUND'),
    stranger: 'WORKSPACE_NOT_FOUND',
    visitor: 'SESSION_REQUIRED',
  },
  consoleNotificationChannelConnectSlack: everyMember,
  consoleNotificationSetQuietHours: signedIn,
  consoleNotificationSetAbsence: signedIn,
  consoleNotificationSetDigest: signedIn,
  consoleNotificationReportPage: everyMember,
  // A question that does not exist.
  consoleNotificationList: {
    ...all('UNCERTAINTY_NOT_FOUND'),
    stranger: 'WORKSPACE_NOT_FOUND',
    visitor: 'SESSION_REQUIRED',
  },
  consoleTriggerCreate: administrators,
  consoleTriggerUpdate: administrators,
  consoleTriggerEnable: administrators,
  consoleTriggerDisable: administrators,
  consoleTriggerDelete: administrators,
  consoleDecisionRuleList: everyMember,
  consoleDecisionRulePreview: deciders,
  consoleDecisionRuleCreate: deciders,
  consoleDecisionRuleRevoke: deciders,
  consoleChatTeamPut: administrators,
  consoleChatTeamList: administrators,
  consoleChatTeamRemove: administrators,
  consoleAuditList: administrators,
  consoleAuditExport: administrators,
  consoleAuditVerify: administrators,
};

/** Calls that end what the other calls need, so they run last. */
const goLast = ['consoleInvitationAccept', 'consoleMemberLeave', 'consoleSessionSignOut'];
const inOrder = consoleEndpointList.toSorted(
  (a, b) => goLast.indexOf(a.name) - goLast.indexOf(b.name),
);

async function codeOf(browser: Visitor, path: string, body: unknown): Promise<string> {
  const response = await browser.post(path, body);
  const text = await response.text();
  return response.status === 200 ? 'ok' : String((JSON.parse(text) as { error: string }).error);
}

test('every console endpoint admits exactly the callers in the policy table', async (t) => {
  const world = await startConsoleWorld(t);
  // A second owner, so that the owner can leave.
  await world.addMember('owner');
  for (const { name, path } of inOrder) {
    await t.test(path, async () => {
      const [expected, makeRequest] = [verdicts[name], requestMakers[name]];
      assert.ok(expected && makeRequest, `${name} has no row in the policy table`);
      // The limits of requests start over.
      world.hub.clock.advance(5_000);
      for (const caller of callers) {
        // Accepting an invitation signs in as another person.
        const isGuest = name === 'consoleInvitationAccept';
        const browser = isGuest ? world.hub.visitor() : world.browsers[caller];
        const body = await makeRequest(world, browser, caller);
        assert.equal(await codeOf(browser, path, body), expected[caller], `${name}, ${caller}`);
      }
    });
  }
});

test('every console endpoint refuses bearer tokens, other origins and methods other than POST', async (t) => {
  const world = await startConsoleWorld(t);
  const { hub, workspaceId, browsers } = world;
  const { owner } = browsers;
  const { mint } = consoleEndpoints.serviceTokens;
  const { token } = await owner.call(mint, { workspaceId, name: 'CI' });
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

test('every row of the policy table names an endpoint of the console', () => {
  const names = consoleEndpointList.map(({ name }) => name).toSorted();
  assert.deepEqual(Object.keys(verdicts).toSorted(), names);
  assert.deepEqual(Object.keys(requestMakers).toSorted(), names);
});
