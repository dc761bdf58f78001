import { consoleEndpoints, endpoints } from '@signalbox/contract';
import { timestampOf } from '../../src/base/clock.ts';
import { insertRow } from '../../src/db/row-write.ts';
import { appendResolution } from '../../src/uncertainties/store-resolutions.ts';
import type { Caller, ConsoleWorld } from './console-world.ts';
import { makeRequest } from './oauth.ts';
import { logDeviceIn, PASSWORD } from './people.ts';
import type { Visitor } from './visitor.ts';

/** Makes a request that a caller sends, with things of its own where it changes them. */
export type MakeRequest = (
  world: ConsoleWorld,
  browser: Visitor,
  caller: Caller,
) => Promise<Record<string, unknown>> | Record<string, unknown>;

const inWorkspace: MakeRequest = ({ workspaceId }) => ({ workspaceId });
const nothing: MakeRequest = () => ({});
let drawn = 0;
const draw = (prefix: string) => `${prefix}-${++drawn}`;

const somebodyElse: MakeRequest = async ({ workspaceId, addMember }) => ({
  workspaceId,
  personId: (await addMember('member')).personId,
  role: 'viewer',
});

const startDevice: MakeRequest = async ({ hub }) => {
  const { deviceId } = await hub.visitor().call(endpoints.devices.start, { workspaceSlug: 'acme' });
  return { deviceId };
};

const { serviceTokens, deviceTokens, deviceApprovals, mailAccounts, triggerSettings, session } =
  consoleEndpoints;
const { notificationChannels, notifications } = consoleEndpoints;

const newChannel = ({ workspaceId }: ConsoleWorld) => ({
  ...notificationChannels.put.example.request,
  workspaceId,
});

/** A channel of the caller, or of the owner for those who can have none. */
const ownChannel: MakeRequest = async (world, browser, caller) => {
  const isMember = caller !== 'stranger' && caller !== 'visitor';
  const person = isMember ? browser : world.browsers.owner;
  const { workspaceId } = world;
  const { channels } = await person.call(notificationChannels.list, { workspaceId });
  const channel =
    channels[0] ?? (await person.call(notificationChannels.put, newChannel(world))).channel;
  return { workspaceId, channelId: channel.channelId };
};

const newMailAccount = ({ workspaceId }: ConsoleWorld) => ({
  ...mailAccounts.put.example.request,
  workspaceId,
  name: draw('mail'),
});

const newTrigger = async ({ hub, workspaceId }: ConsoleWorld) => {
  const { database, deps } = hub;
  const repoId = deps.ids('repository');
  await database.write(null, async (tx) =>
    insertRow(tx, 'repositories', {
      workspace_id: workspaceId,
      repo_id: repoId,
      remote_url_hash: repoId,
      label: '',
      status: 'active',
      queue_paused_at: null,
      queue_paused_by: null,
      queue_pause_reason: null,
      ask_order: null,
      created_at: tx.nowMs,
      updated_at: tx.nowMs,
    }),
  );
  return { ...triggerSettings.create.example.request, workspaceId, repoId };
};

/** The authorization request of a client that has registered itself. */
const askForConsent = async ({ hub }: ConsoleWorld) => {
  const { query } = await makeRequest({ baseUrl: hub.address });
  return { query };
};

/** A question about an action that was answered, as a rule repeats it. */
const answeredAction = async (world: ConsoleWorld) => {
  const { hub, workspaceId } = world;
  const { repoId } = await newTrigger(world);
  const uncertaintyId = hub.deps.ids('uncertainty');
  await hub.database.write(workspaceId, async (tx) => {
    insertRow(tx, 'uncertainties', {
      workspace_id: workspaceId,
      uncertainty_id: uncertaintyId,
      repo_id: repoId,
      decision_request_id: null,
      run_id: null,
      job_id: null,
      status: 'resolved',
      prompt: 'May it?',
      kind: 'approval',
      context: '',
      confidence: 0,
      impact: '',
      reversibility: '',
      assumed_value: '',
      assumed_reasoning: '',
      options: '[]',
      auto_promote_threshold: 1,
      recommended_value: null,
      deadline_at: null,
      on_deadline: 'keep_waiting',
      created_by: 'x',
      created_by_name: null,
      requested_by: null,
      created_at: tx.nowMs,
      promoted_at: null,
      resolved_at: tx.nowMs,
      answer_job_id: null,
      answer_seen_at: null,
      hand_over_at: null,
      action_key: 'a',
      taken_at: null,
      taken_by_agent_id: null,
      alike_key: null,
      session: null,
      waited_until: null,
      action: JSON.stringify({ kind: 'execute', words: ['make', 'it'], allow: 'yes' }),
    });
    await appendResolution(tx, {
      workspace_id: workspaceId,
      uncertainty_id: uncertaintyId,
      mode: 'answered',
      resolution_id: hub.deps.ids('resolution'),
      value: 'yes',
      confidence: 1,
      commit_sha: null,
      created_by_job_id: null,
      created_by: null,
      created_by_id: null,
      is_held: 0,
      created_at: tx.nowMs,
      rule_id: null,
    });
  });
  return { workspaceId, uncertaintyId, scope: 'repository' };
};

const someTrigger = async (world: ConsoleWorld) => {
  const { browsers, workspaceId } = world;
  const { trigger } = await browsers.owner.call(triggerSettings.create, await newTrigger(world));
  return { workspaceId, triggerId: trigger.triggerId };
};

/** For each row of the console's table, by its name. */
export const requestMakers: Record<string, MakeRequest> = {
  consoleSessionGet: nothing,
  consoleSessionSignIn: async (_world, browser) => ({
    email: (await browser.call(session.get, {})).person?.email ?? 'visitor@acme.dev',
    password: PASSWORD,
  }),
  consoleSessionSignInByLink: () => ({ linkToken: 'none' }),
  consoleSessionSignOut: nothing,
  consoleSessionList: nothing,
  consoleSessionRevoke: () => ({ sessionId: 'ses_unknown' }),
  consoleFirstOwnerCheck: () => ({ linkToken: 'none' }),
  consoleFirstOwnerCreate: () => ({ ...consoleEndpoints.firstOwner.create.example.request }),
  consolePasswordResetCheck: () => ({ linkToken: 'none' }),
  consolePasswordResetSetPassword: () => ({ linkToken: 'none', newPassword: PASSWORD }),
  consoleDeviceApprovalOpen: startDevice,
  consoleDeviceApprovalAnswer: async (world, browser, caller) => {
    const { deviceId } = await startDevice(world, browser, caller);
    await browser.codeOf(deviceApprovals.open, { deviceId: String(deviceId) });
    return { deviceId, decision: 'deny' };
  },
  consoleAssistantConsentOpen: askForConsent,
  consoleAssistantConsentAnswer: async (world) => ({
    ...(await askForConsent(world)),
    decision: 'allow',
    workspaceId: world.workspaceId,
    scopes: ['read'],
  }),
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
  consoleIntegrationSecretMint: ({ workspaceId }) => ({ workspaceId, name: 'tracker' }),
  consoleIntegrationSecretList: inWorkspace,
  consoleIntegrationSecretRevoke: ({ workspaceId }) => ({ workspaceId, secretId: 'sec_unknown' }),
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
  consoleNotificationChannelList: inWorkspace,
  consoleNotificationChannelPut: newChannel,
  consoleNotificationChannelRemove: ownChannel,
  consoleNotificationChannelTest: ownChannel,
  consoleNotificationChannelMessages: ownChannel,
  consoleNotificationChannelSendAgain: async (...call) => ({
    ...(await ownChannel(...call)),
    notificationId: notificationChannels.sendAgain.example.request.notificationId,
  }),
  consoleNotificationChannelConnectSlack: inWorkspace,
  consoleNotificationSetQuietHours: () => ({ quietHours: null }),
  consoleNotificationSetAbsence: () => ({ absentUntil: null }),
  consoleNotificationSetDigest: () => ({ hours: 0 }),
  consoleNotificationReportPage: ({ workspaceId }) => ({
    workspaceId,
    pageId: 'page',
    isVisible: true,
  }),
  consoleNotificationList: ({ workspaceId }) => ({
    workspaceId,
    uncertaintyId: notifications.list.example.request.uncertaintyId,
  }),
  consoleDecisionRuleList: inWorkspace,
  consoleDecisionRulePreview: answeredAction,
  consoleDecisionRuleCreate: async (world) => ({
    ...(await answeredAction(world)),
    expiresAt: timestampOf(world.hub.clock.nowMs() + 1_000),
  }),
  consoleDecisionRuleRevoke: async (world) => {
    const { decisionRules } = consoleEndpoints;
    const expiresAt = timestampOf(world.hub.clock.nowMs() + 1_000);
    const draft = { ...(await answeredAction(world)), scope: 'repository' as const, expiresAt };
    const { rule } = await world.browsers.owner.call(decisionRules.create, draft);
    return { workspaceId: world.workspaceId, ruleId: rule.ruleId };
  },
  consoleTriggerCreate: newTrigger,
  consoleTriggerUpdate: someTrigger,
  consoleTriggerEnable: someTrigger,
  consoleTriggerDisable: someTrigger,
  consoleTriggerDelete: someTrigger,
  consoleChatTeamPut: ({ workspaceId }) => ({ workspaceId, teamId: `T${++drawn}` }),
  consoleChatTeamList: inWorkspace,
  consoleChatTeamRemove: ({ workspaceId }) => ({ workspaceId, teamId: 'T0' }),
  consoleAuditList: inWorkspace,
  consoleAuditExport: inWorkspace,
  consoleAuditVerify: inWorkspace,
};
