import {
  AGENT_HEARTBEAT_INTERVAL_MS,
  type AgentCommand,
  type endpoints,
  type IdSource,
  type RequestInput,
} from '@signalbox/contract';
import type { Database, Tx } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import type { Principal } from '../principal.ts';
import type { ClaimWaiters } from '../queue/claim-waiters.ts';
import { mayActAs } from './policy.ts';
import {
  type AgentRow,
  insertAgent,
  listCancelRequests,
  readAgent,
  readAgentOfMachine,
  updateAgent,
} from './store.ts';

type HeartbeatInput = RequestInput<typeof endpoints.agents.heartbeat.request>;

export interface AgentDeps {
  database: Database;
  ids: IdSource;
  waiters: ClaimWaiters;
}

/** Registers an agent or renews its presence. Never waits for job work. */
export function recordHeartbeat(
  { database, ids, waiters }: AgentDeps,
  principal: Principal,
  input: HeartbeatInput,
): Promise<{ agentId: string; intervalMs: number; commands: AgentCommand[] }> {
  const { workspaceId, machineFingerprint } = input;
  return database.writeConcurrent({ workspaceId, keys: [machineFingerprint] }, async (tx) => {
    const known = await readAgentOfMachine(
      tx,
      workspaceId,
      principal.principalId,
      machineFingerprint,
    );
    const row: AgentRow = {
      workspace_id: workspaceId,
      agent_id: known?.agent_id ?? ids('agent'),
      principal_id: principal.principalId,
      token_id: principal.tokenId,
      machine_fingerprint: machineFingerprint,
      display_name: input.displayName,
      status: input.status,
      capabilities: JSON.stringify(input.capabilities),
      agent_version: input.agentVersion ?? null,
      platform: input.platform ?? null,
      arch: input.arch ?? null,
      last_seen_at: tx.nowMs,
      created_at: known?.created_at ?? tx.nowMs,
    };
    if (known === undefined) await insertAgent(tx, row);
    else await updateAgent(tx, row);
    if (known !== undefined && mayClaimDifferently(known, row)) {
      tx.afterCommit(() => waiters.wakeAgent(workspaceId, row.agent_id));
    }
    return {
      agentId: row.agent_id,
      intervalMs: AGENT_HEARTBEAT_INTERVAL_MS,
      commands: await listCommands(tx, workspaceId, row.agent_id),
    };
  });
}

/** What the hub wants of an agent now. */
export async function listCommands(
  tx: Tx,
  workspaceId: string,
  agentId: string,
): Promise<AgentCommand[]> {
  const jobIds = await listCancelRequests(tx, workspaceId, agentId);
  return jobIds.map((jobId) => ({ command: 'cancel-job', jobId }));
}

/**
 * The agent that a request names, if the principal may speak for it.
 * @throws HubError AGENT_NOT_FOUND, the same for unknown and foreign agents.
 */
export async function requireAgent(
  tx: Tx,
  principal: Principal,
  workspaceId: string,
  agentId: string,
  rowLock: Tx['rowLock'] = '',
): Promise<AgentRow> {
  return requireSpeaker(await readAgent(tx, workspaceId, agentId, rowLock), principal);
}

/**
 * The same of an agent that was read.
 * @throws HubError AGENT_NOT_FOUND
 */
export function requireSpeaker(agent: AgentRow | undefined, principal: Principal): AgentRow {
  if (agent === undefined || !mayActAs(principal, agent)) {
    throw new HubError(
      'AGENT_NOT_FOUND',
      'No such agent of this token in this workspace: send an agent heartbeat first.',
    );
  }
  return agent;
}

function mayClaimDifferently(before: AgentRow, after: AgentRow): boolean {
  return (
    before.status !== after.status ||
    before.capabilities !== after.capabilities ||
    before.token_id !== after.token_id
  );
}
