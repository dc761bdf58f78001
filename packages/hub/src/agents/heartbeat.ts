import { isDeepStrictEqual } from 'node:util';
import {
  AGENT_HEARTBEAT_INTERVAL_MS,
  type AgentCommand,
  type endpoints,
  type RequestInput,
} from '@signalbox/contract';
import { invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { listCancelRequests } from '../queue/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { commandAfterHeartbeat, commandsToSend, isHeldBack } from './command-state.ts';
import { capabilitiesOf } from './present.ts';
import {
  type AgentRow,
  type NewCommand,
  readAgentOfMachine,
  touchAgent,
  updateAgent,
} from './store.ts';
import { listWaitingRequests } from './store-patch-requests.ts';

/** Of one heartbeat; the agent gets the others with later ones. */
const PATCH_COMMANDS_MAX = 20;

/** Each claim of the agent reads them. A thousand repositories take some 40 KB. */
const CAPABILITIES_BYTES_MAX = 64 * 1_024;

/** An agent that drains or is drained does not claim, so only its heartbeats get it a `resume`. */
const HELD_BACK_INTERVAL_MS = 5_000;

type HeartbeatInput = RequestInput<typeof endpoints.agents.heartbeat.request>;

/**
 * Registers an agent or renews its presence. Never waits for operations on jobs.
 *
 * @throws HubError INVALID_REQUEST
 */
export function recordHeartbeat(
  deps: Pick<HubDeps, 'database' | 'ids' | 'waiters'>,
  principal: Principal,
  input: HeartbeatInput,
): Promise<{ agentId: string; intervalMs: number; commands: AgentCommand[] }> {
  const { workspaceId, machineFingerprint } = input;
  const capabilities = storedCapabilities(input.capabilities, '/capabilities');
  return deps.database.writeConcurrent({ workspaceId, keys: [machineFingerprint] }, async (tx) => {
    const beat = await writeHeartbeat(deps, tx, principal, { ...input, capabilities });
    const cancels = await listCommands(tx, workspaceId, beat.agentId);
    return { ...beat, commands: [...cancels, ...beat.commands] };
  });
}

/**
 * The text of capabilities as it is stored.
 * @throws HubError INVALID_REQUEST, which names the path of the field.
 */
export function storedCapabilities(
  capabilities: HeartbeatInput['capabilities'],
  path: string,
): string {
  const text = JSON.stringify(capabilities);
  if (Buffer.byteLength(text) <= CAPABILITIES_BYTES_MAX) return text;
  throw invalidField(path, `must have at most ${CAPABILITIES_BYTES_MAX} bytes of JSON`);
}

/** A heartbeat whose capabilities are `storedCapabilities`. */
type CheckedHeartbeat = Omit<HeartbeatInput, 'capabilities'> & { capabilities: string };

/** Writes a heartbeat. Returns the commands for the agent, without cancels of its jobs. */
export async function writeHeartbeat(
  { ids, waiters }: Pick<HubDeps, 'ids' | 'waiters'>,
  tx: Tx,
  principal: Principal,
  input: CheckedHeartbeat,
): Promise<{ agentId: string; intervalMs: number; commands: AgentCommand[] }> {
  const { workspaceId, machineFingerprint, capabilities } = input;
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
    ...commandColumns(known, input, tx.nowMs),
  };
  if (known === undefined) insertRow(tx, 'agents', row);
  // Most heartbeats tell nothing new: a small write, of which no stream has to know.
  else if (tellsNothingNew(known, row))
    await touchAgent(tx, workspaceId, row.agent_id, row.token_id);
  else await updateAgent(tx, row);
  if (known !== undefined && mayClaimDifferently(known, row)) {
    tx.afterCommit(() => waiters.wakeAgent(workspaceId, row.agent_id));
  }
  return {
    agentId: row.agent_id,
    intervalMs: isHeldBack(row, tx.nowMs) ? HELD_BACK_INTERVAL_MS : AGENT_HEARTBEAT_INTERVAL_MS,
    commands: [
      ...commandsToSend(row, input.commandNumber, tx.nowMs),
      ...(await listPatchCommands(tx, row)),
    ],
  };
}

/** Lists the requests for patches. Agents that take none cost no statement. */
async function listPatchCommands(tx: Tx, row: AgentRow): Promise<AgentCommand[]> {
  const { workspace_id: workspaceId, agent_id: agentId } = row;
  if ((capabilitiesOf(row).changesOnRequest ?? []).length === 0) return [];
  const page = { workspaceId, agentId, limit: PATCH_COMMANDS_MAX };
  const requests = await listWaitingRequests(tx, page);
  return requests.map(({ job_id, asked_by_id, asked_by_name }) => ({
    command: 'share-patch',
    jobId: job_id,
    askedByName: asked_by_name ?? asked_by_id,
  }));
}

type CommandColumns = Pick<AgentRow, 'command' | 'command_acknowledged_at'> & NewCommand;

/** The command of a known agent, which this heartbeat may acknowledge or end. */
function commandColumns(
  known: AgentRow | undefined,
  { status, commandNumber }: Pick<HeartbeatInput, 'status' | 'commandNumber'>,
  nowMs: number,
): CommandColumns {
  if (known === undefined) return noCommand;
  const { command_number, command_reason, command_by, command_by_name, command_asked_at } = known;
  return {
    command_number,
    command_reason,
    command_by,
    command_by_name,
    command_asked_at,
    ...commandAfterHeartbeat(known, { status, obeyed: commandNumber }, nowMs),
  };
}

const noCommand: CommandColumns = {
  command: null,
  command_number: 0,
  command_reason: null,
  command_by: null,
  command_by_name: null,
  command_asked_at: null,
  command_acknowledged_at: null,
};

/** The commands for an agent: it must stop the jobs whose cancellation was requested. */
export async function listCommands(
  tx: Tx,
  workspaceId: string,
  agentId: string,
): Promise<AgentCommand[]> {
  const jobIds = await listCancelRequests(tx, workspaceId, agentId);
  return jobIds.map((jobId) => ({ command: 'cancel-job', jobId }));
}

/** Whether a heartbeat differs from the one before in nothing but its time and its token. */
function tellsNothingNew(before: AgentRow, after: AgentRow): boolean {
  const { last_seen_at, token_id } = after;
  return isDeepStrictEqual({ ...before, last_seen_at, token_id }, { ...after });
}

/** Whether the agent may now get other jobs than before. */
function mayClaimDifferently(before: AgentRow, after: AgentRow): boolean {
  return (
    before.status !== after.status ||
    before.capabilities !== after.capabilities ||
    before.token_id !== after.token_id
  );
}
