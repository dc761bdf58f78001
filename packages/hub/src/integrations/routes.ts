import { consoleEndpoints, endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, readPage } from '../http/paging.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { claimChatTeam, listTeams, removeChatTeam } from './chat-teams.ts';
import { isCloudEvent } from './event.ts';
import { type IngestDeps, ingestEvent } from './ingest.ts';
import { ingestChatEvent } from './ingest-chat.ts';
import {
  presentChatTeam,
  presentEvent,
  presentEventHead,
  presentReplay,
  presentSecret,
} from './present.ts';
import { readEventHistory } from './read-events.ts';
import { replayEvent } from './replay.ts';
import { listSecrets, mintIntegrationSecret, revokeIntegrationSecret } from './secrets.ts';
import { listEvents } from './store.ts';
import { testTrigger } from './test-trigger.ts';

const CLOUD_EVENT_TYPE = 'application/cloudevents+json';

export function bindIntegrationRoutes(api: Api, deps: IngestDeps): void {
  const { integrations } = endpoints;
  api.bind(integrations.ingest, (input, { principal }) => ingestEvent(deps, principal, input), {
    contentTypes: [CLOUD_EVENT_TYPE],
    keepsUnknownFields: isCloudEvent,
  });
  api.bind(integrations.chatEvents, (input) => ingestChatEvent(deps, input), {
    // The chat sends many fields that are not used, and ignores warnings in our answers.
    keepsUnknownFields: () => true,
  });
  bindLedgerRoutes(api, deps);
  bindTeamRoutes(api, deps);
  bindSecretRoutes(api, deps);
}

function bindLedgerRoutes(api: Api, deps: HubDeps): void {
  const { integrationEvents } = endpoints;
  const { reader } = deps.database;
  api.bind(integrationEvents.list, async (input) => {
    const before = decodeCursor(input.cursor, 'integrationEvent');
    const page = await readPage(
      { limit: input.limit, before },
      (piece) => listEvents(reader, input, piece),
      (row) => row.event_id,
    );
    return { events: page.items.map(presentEventHead), nextCursor: page.nextCursor };
  });
  api.bind(integrationEvents.get, async ({ workspaceId, eventId }) => {
    const { row, firings } = await readEventHistory(reader, workspaceId, eventId);
    return { event: presentEvent(row, firings) };
  });
  api.bind(integrationEvents.replay, async (input, { principal }) =>
    presentReplay(await replayEvent(deps, principal, input)),
  );
  api.bind(integrationEvents.testTrigger, async (input) => ({
    test: await testTrigger(deps, input),
  }));
}

function bindTeamRoutes(api: Api, deps: HubDeps): void {
  const { chatTeams } = consoleEndpoints;
  api.bind(chatTeams.put, async (input, { principal }) => ({
    chatTeam: presentChatTeam(await claimChatTeam(deps, principal, input)),
  }));
  api.bind(chatTeams.list, async ({ workspaceId }, { principal }) => {
    const rows = await listTeams(deps, principal, workspaceId, deps.clock.nowMs());
    return { chatTeams: rows.map(presentChatTeam) };
  });
  api.bind(chatTeams.remove, async (input, { principal }) => ({
    removed: await removeChatTeam(deps, principal, input),
  }));
}

function bindSecretRoutes(api: Api, deps: HubDeps): void {
  const { integrationSecrets } = consoleEndpoints;
  api.bind(integrationSecrets.mint, async (input, { principal }) => {
    const { secret, row } = await mintIntegrationSecret(deps, principal, input);
    return { secret, integrationSecret: presentSecret(row) };
  });
  api.bind(integrationSecrets.list, async ({ workspaceId }, { principal }) => {
    const rows = await listSecrets(deps, principal, workspaceId);
    return { integrationSecrets: rows.map(presentSecret) };
  });
  api.bind(integrationSecrets.revoke, async (input, { principal }) => ({
    revoked: await revokeIntegrationSecret(deps, principal, input),
  }));
}
