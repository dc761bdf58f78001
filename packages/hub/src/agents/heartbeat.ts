import {
  AGENT_HEARTBEAT_INTERVAL_MS,
  type AgentCommand,
  type endpoints,
  type RequestInput,
} from '@signalbox/contract';
import type { Tx } from '../db/engine.ts';
import { invalidField } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { Principal } from '../principal.ts';
import { listCancelRequests } from '../queue/store.ts';
import { type AgentRow, insertAgent, readAgentOfMachine, updateAgent } from './store.ts';

/** Each claim of the agent reads them. A thousand repositories take some 40 KB. */
const CAPABILITIES_BYTES_MAX = 64 * 1_024;

type HeartbeatInput = RequestInput<typeof endpoints.agents.heartbeat.request>;

/**
 * Registers an agent or renews its presence. Never waits for operations on jobs.
 *
 * @throws HubError INVALID_REQUEST
 */
export function recordHeartbeat(
  { database, ids, waiters }: Pick<HubDeps, 'database' | 'ids' | 'waiters'>,
  principal: Principal,
  input: HeartbeatInput,
): Promise<{ agentId: string; intervalMs: number; commands: AgentCommand[] }> {
  const { workspaceId, machineFingerprint } = input;
  const capabilities = JSON.stringify(input.capabilities);
  if (Buffer.byteLength(capabilities) > CAPABILITIES_BYTES_MAX) {
    const problem = `must have at most ${CAPABILITIES_BYTES_MAX} bytes of JSON`;
    throw invalidField('/capabilities', problem);
  }
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
      capabilities,
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

/** The commands for an agent: it must stop the jobs whose cancellation was requested. */
export async function listCommands(
  tx: Tx,
  workspaceId: string,
  agentId: string,
): Promise<AgentCommand[]> {
  const jobIds = await listCancelRequests(tx, workspaceId, agentId);
  return jobIds.map((jobId) => ({ command: 'cancel-job', jobId }));
}

/** Whether the agent may now get other jobs than before. */
function mayClaimDifferently(before: AgentRow, after: AgentRow): boolean {
  return (
    before.status !== after.status ||
    before.capabilities !== after.capabilities ||
    before.token_id !== after.token_id
  );
}
