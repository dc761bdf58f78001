import {
  AGENT_OFFLINE_AFTER_MS,
  type Agent,
  type AgentCapabilities,
  HELD_JOBS_MAX,
  type StandingCommand,
} from '@signalbox/contract';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { commandStateOf, expiryOf, isHeldBack } from './command-state.ts';
import type { AgentRow } from './store.ts';

export function capabilitiesOf(row: Pick<AgentRow, 'capabilities'>): AgentCapabilities {
  // The heartbeat's schema has validated it before it was stored.
  return JSON.parse(row.capabilities) as AgentCapabilities;
}

/**
 * The current status of an agent. A silent agent is offline, regardless of its last report; one
 * that was asked to drain or stop is draining before it knows.
 */
export function agentStatusAt(row: AgentRow, nowMs: number): Agent['status'] {
  if (isSilent(row, nowMs)) return 'offline';
  return row.status === 'online' && isHeldBack(row, nowMs) ? 'draining' : row.status;
}

/** Why an agent claims no jobs of a repository at the moment; null while it claims them. */
export function pauseAt(
  { paused, pauses = [] }: AgentCapabilities,
  repoId: string,
  nowMs: number,
): Pick<NonNullable<AgentCapabilities['paused']>, 'message' | 'until'> | null {
  const lasting = ({ until }: { until: string }) => Date.parse(until) > nowMs;
  const ofRepository = pauses.find((one) => one.repoIds.includes(repoId) && lasting(one));
  if (ofRepository !== undefined) return ofRepository;
  // An agent that names no repositories has one account for all of them.
  return pauses.length === 0 && paused !== undefined && lasting(paused) ? paused : null;
}

/** Whether an agent was not heard from for so long that it counts as offline. */
export function isSilent({ last_seen_at }: Pick<AgentRow, 'last_seen_at'>, nowMs: number): boolean {
  return nowMs - last_seen_at >= AGENT_OFFLINE_AFTER_MS;
}

/** The parts of an agent that are not in its row. */
export interface AgentParts {
  repoIds: readonly string[];
  held: Agent['held'];
  heldCount: number;
}

export function presentAgent(row: AgentRow, parts: AgentParts, nowMs: number): Agent {
  const status = agentStatusAt(row, nowMs);
  return {
    agentId: row.agent_id,
    workspaceId: row.workspace_id,
    displayName: row.display_name,
    machineFingerprint: row.machine_fingerprint,
    principalId: row.principal_id,
    status,
    capabilities: capabilitiesOf(row),
    repoIds: [...parts.repoIds],
    held: parts.held.slice(0, HELD_JOBS_MAX),
    heldCount: parts.heldCount,
    command: presentCommand(row, { status, held: parts.heldCount, nowMs }),
    agentVersion: row.agent_version,
    platform: row.platform,
    arch: row.arch,
    lastSeenAt: timestampOf(row.last_seen_at),
    createdAt: timestampOf(row.created_at),
  };
}

function presentCommand(
  row: AgentRow,
  now: { status: Agent['status']; held: number; nowMs: number },
): StandingCommand | null {
  if (row.command === null) return null;
  return {
    command: row.command,
    number: row.command_number,
    state: commandStateOf(row, now),
    reason: row.command_reason,
    askedBy: row.command_by ?? '',
    askedByName: row.command_by_name ?? '',
    askedAt: timestampOf(row.command_asked_at ?? 0),
    acknowledgedAt: nullableTimestampOf(row.command_acknowledged_at),
    expiresAt: nullableTimestampOf(expiryOf(row)),
  };
}
