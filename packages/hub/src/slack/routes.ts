import { consoleEndpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import type { SenderProof } from '../http/handlers.ts';
import { checkChatSignature, checkChatTimestamp } from '../integrations/proofs.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { handleCommand } from './command.ts';
import { makeSlackCode } from './connect.ts';
import type { SlackDeps } from './deps.ts';
import { payloadOf } from './payloads.ts';
import { handleInteraction } from './press.ts';

/** Binds the console's endpoint, and the paths to which Slack sends unless Socket Mode is used. */
export function bindSlackRoutes(api: Api, deps: HubDeps, slack: SlackDeps | null): void {
  api.bind(consoleEndpoints.notificationChannels.connectSlack, ({ workspaceId }, { principal }) =>
    makeSlackCode(deps, principal, workspaceId),
  );
  if (slack === null || slack.slack.app.signingSecrets.length === 0) return;
  const { signingSecrets } = slack.slack.app;
  const proof: SenderProof = {
    checkHead: ({ headers }) => checkChatTimestamp(signingSecrets, headers, deps.clock.nowMs()),
    checkBody: ({ headers }, bytes) => checkChatSignature(signingSecrets, headers, bytes),
  };
  api.bindStandard(
    'POST',
    '/slack/interactions',
    async ({ body }) => ({ body: await handleInteraction(slack, payloadOf(body)) }),
    proof,
  );
  api.bindStandard(
    'POST',
    '/slack/commands',
    async ({ body }) => ({ body: await handleCommand(slack, body) }),
    proof,
  );
}
