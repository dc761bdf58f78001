import { AGENT_OFFLINE_AFTER_MS, type Agent, type AgentCapabilities } from '@signalbox/contract';
import { timestampOf } from '../clock.ts';
import type { AgentRow } from './store.ts';

export function capabilitiesOf(row: Pick<AgentRow, 'capabilities'>): AgentCapabilities {
  // The heartbeat's schema has validated it before it was stored.
  return JSON.parse(row.capabilities) as AgentCapabilities;
}

/** The current status of an agent. A silent agent is offline, regardless of its last report. */
export function agentStatusAt(row: AgentRow, nowMs: number): Agent['status'] {
  return isSilent(row, nowMs) ? 'offline' : row.status;
}

/** Whether an agent was not heard from for so long that it counts as offline. */
export function isSilent({ last_seen_at }: Pick<AgentRow, 'last_seen_at'>, nowMs: number): boolean {
  return nowMs - last_seen_at >= AGENT_OFFLINE_AFTER_MS;
}

export function presentAgent(row: AgentRow, nowMs: number): Agent {
  return {
    agentId: row.agent_id,
    workspaceId: row.workspace_id,
    displayName: row.display_name,
    machineFingerprint: row.machine_fingerprint,
    status: agentStatusAt(row, nowMs),
    capabilities: capabilitiesOf(row),
    agentVersion: row.agent_version,
    platform: row.platform,
    arch: row.arch,
    lastSeenAt: timestampOf(row.last_seen_at),
    createdAt: timestampOf(row.created_at),
  };
}
