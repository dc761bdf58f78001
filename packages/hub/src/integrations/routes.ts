import { consoleEndpoints, endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, readPage } from '../http/paging.ts';
import type { HubDeps } from '../hub-deps.ts';
import { listMappedTeams, mapChatTeam, unmapChatTeam } from './chat-teams.ts';
import { isCloudEvent } from './event.ts';
import { ingestEvent } from './ingest.ts';
import { ingestChatEvent } from './ingest-chat.ts';
import { presentChatTeam, presentEvent, presentEventHead, presentReplay } from './present.ts';
import { readEventHistory } from './read-events.ts';
import { replayEvent } from './replay.ts';
import { listEvents } from './store.ts';

const CLOUD_EVENT_TYPE = 'application/cloudevents+json';

export function bindIntegrationRoutes(api: Api, deps: HubDeps): void {
  const { integrations } = endpoints;
  api.bind(integrations.ingest, (input) => ingestEvent(deps, input), {
    contentTypes: [CLOUD_EVENT_TYPE],
    keepsUnknownFields: isCloudEvent,
  });
  api.bind(integrations.chatEvents, (input) => ingestChatEvent(deps, input), {
    // The chat sends many fields that are not used, and ignores warnings in our answers.
    keepsUnknownFields: () => true,
  });
  bindLedgerRoutes(api, deps);
  bindTeamRoutes(api, deps);
}

function bindLedgerRoutes(api: Api, deps: HubDeps): void {
  const { integrationEvents } = endpoints;
  const { reader } = deps.database;
  api.bind(integrationEvents.list, async (input) => {
    const { workspaceId, limit } = input;
    const before = decodeCursor(input.cursor, 'integrationEvent');
    const page = await readPage(
      { limit, before },
      (piece) => listEvents(reader, workspaceId, input, piece),
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
}

function bindTeamRoutes(api: Api, deps: HubDeps): void {
  const { chatTeams } = consoleEndpoints;
  api.bind(chatTeams.put, async (input, { principal }) => ({
    chatTeam: presentChatTeam(await mapChatTeam(deps, principal, input)),
  }));
  api.bind(chatTeams.list, async ({ workspaceId }, { principal }) => {
    const rows = await listMappedTeams(deps, principal, workspaceId);
    return { chatTeams: rows.map(presentChatTeam) };
  });
  api.bind(chatTeams.remove, async (input, { principal }) => ({
    removed: await unmapChatTeam(deps, principal, input),
  }));
}
