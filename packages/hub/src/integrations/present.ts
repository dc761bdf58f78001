import {
  CHAT_TEAM_CODE_PREFIX,
  type ChatTeam,
  formatUserCode,
  type IntegrationEvent,
  type IntegrationEventSummary,
  type IntegrationSecret,
  type UnmatchedTrigger,
} from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { presentFiring } from '../triggers/present.ts';
import { isClaim, type KnownTeam } from './chat-teams.ts';
import type { IntegrationEventHead, IntegrationEventRow } from './store.ts';
import type { IntegrationSecretRow } from './store-secrets.ts';

type FiringRow = Parameters<typeof presentFiring>[0];

export function presentEventHead(row: IntegrationEventHead): IntegrationEventSummary {
  return {
    eventId: row.event_id,
    workspaceId: row.workspace_id,
    channel: row.channel,
    source: row.source,
    type: row.type,
    title: row.title,
    actor: row.actor,
    threadRef: row.thread_ref,
    sourceRef: row.source_ref,
    occurredAt: timestampOf(row.occurred_at),
    receivedAt: timestampOf(row.received_at),
    status: row.status,
    // Only reasons of the contract are written.
    ignored: row.ignored_reason as IntegrationEventSummary['ignored'],
    contextItemId: row.context_item_id,
    replays: row.replays,
    isForgotten: row.forgotten_at !== null,
  };
}

export function presentEvent(
  row: IntegrationEventRow,
  firings: readonly FiringRow[],
): IntegrationEvent {
  return {
    ...presentEventHead(row),
    data: JSON.parse(row.data ?? 'null'),
    // The hub serialized both columns from these types.
    extensions: JSON.parse(row.extensions ?? '{}') as Record<string, unknown>,
    firings: firings.map(presentFiring),
    unmatched: JSON.parse(row.unmatched) as UnmatchedTrigger[],
  };
}

export function presentReplay(made: {
  replay: number;
  firings: readonly FiringRow[];
  unmatched: UnmatchedTrigger[];
}) {
  const { replay, firings, unmatched } = made;
  return { replay, firings: firings.map(presentFiring), unmatched };
}

export function presentChatTeam(team: KnownTeam): ChatTeam {
  return {
    teamId: team.team_id,
    name: team.name,
    createdBy: team.created_by,
    createdAt: timestampOf(team.created_at),
    status: isClaim(team) ? 'waiting' : 'mapped',
    confirmation: isClaim(team)
      ? {
          code: CHAT_TEAM_CODE_PREFIX + formatUserCode(team.code),
          expiresAt: timestampOf(team.expires_at),
        }
      : null,
  };
}

export function presentSecret(row: IntegrationSecretRow): IntegrationSecret {
  return {
    secretId: row.secret_id,
    name: row.name,
    createdBy: row.created_by,
    createdAt: timestampOf(row.created_at),
    lastUsedAt: nullableTimestampOf(row.last_used_at),
  };
}
