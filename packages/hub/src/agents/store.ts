import {
  AGENT_OFFLINE_AFTER_MS,
  type AgentStatus,
  STOP_COMMAND_EXPIRES_MS,
} from '@signalbox/contract';
import type { KeptRead, Reader, SqlValue, Tx } from '../db/engine.ts';
import { firstKept } from '../db/kept-reads.ts';
import { sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { AgentsTable } from '../db/schema/tables.ts';

export type AgentRow = AgentsTable;

export function readAgent(
  reader: Reader,
  workspaceId: string,
  agentId: string,
): Promise<AgentRow | undefined> {
  return reader.firstSql<AgentRow>(
    `SELECT ${allColumns.agents} FROM agents WHERE workspace_id = ? AND agent_id = ?`,
    [workspaceId, agentId],
  );
}

/** Reads an agent and locks its row until the end of the transaction. */
export function lockAgent(
  tx: Tx,
  workspaceId: string,
  agentId: string,
): Promise<AgentRow | undefined> {
  return tx.firstSql<AgentRow>(
    `SELECT ${allColumns.agents} FROM agents WHERE workspace_id = ? AND agent_id = ?${tx.rowLock}`,
    [workspaceId, agentId],
  );
}

/** The columns that tell whose agent it is. They never change. */
export type AgentOwner = Pick<AgentRow, 'agent_id' | 'principal_id'>;

const agentOwner: KeptRead = {
  sql: 'SELECT agent_id, principal_id FROM agents WHERE workspace_id = ? AND agent_id = ?',
  sources: ['agents.principal_id'],
};

export function readAgentOwner(
  reader: Reader,
  workspaceId: string,
  agentId: string,
): Promise<AgentOwner | undefined> {
  return firstKept<AgentOwner>(reader, agentOwner, [workspaceId, agentId]);
}

/** One agent per workspace, principal and machine. */
export function readAgentOfMachine(
  reader: Reader,
  workspaceId: string,
  principalId: string,
  machineFingerprint: string,
): Promise<AgentRow | undefined> {
  return reader.firstSql<AgentRow>(
    `SELECT ${allColumns.agents} FROM agents
     WHERE workspace_id = ? AND principal_id = ? AND machine_fingerprint = ?`,
    [workspaceId, principalId, machineFingerprint],
  );
}

/** Writes the fields that each heartbeat reports. */
export async function updateAgent(tx: Tx, row: AgentRow): Promise<void> {
  await updateRows(
    tx,
    'agents',
    { workspace_id: row.workspace_id, agent_id: row.agent_id },
    {
      token_id: row.token_id,
      display_name: row.display_name,
      status: row.status,
      capabilities: row.capabilities,
      agent_version: row.agent_version,
      platform: row.platform,
      arch: row.arch,
      last_seen_at: row.last_seen_at,
      command: row.command,
      command_acknowledged_at: row.command_acknowledged_at,
    },
  );
}

/** Records that the agent was heard from now, by a claim with this token. */
export async function touchAgent(
  tx: Tx,
  workspaceId: string,
  agentId: string,
  tokenId: string,
): Promise<void> {
  await updateRows(
    tx,
    'agents',
    { workspace_id: workspaceId, agent_id: agentId },
    { last_seen_at: tx.nowMs, token_id: tokenId },
  );
}

export type NewCommand = Pick<
  AgentRow,
  | 'command'
  | 'command_number'
  | 'command_reason'
  | 'command_by'
  | 'command_by_name'
  | 'command_asked_at'
>;

/** Replaces the command of an agent, which has not acknowledged the new one. */
export async function updateCommand(
  tx: Tx,
  { workspace_id, agent_id }: Pick<AgentRow, 'workspace_id' | 'agent_id'>,
  row: NewCommand,
): Promise<void> {
  await updateRows(
    tx,
    'agents',
    { workspace_id, agent_id },
    { ...row, command_acknowledged_at: null },
  );
}

export interface AgentFilter {
  statuses?: readonly AgentStatus[] | undefined;
  /** Agents that name a repository, and those of its tokens that name none. */
  servedBy?: { repoId: string; tokenIds: readonly string[] } | undefined;
}

/** Newest first; one more than `limit`, so that the caller sees if there is a next page. */
export function listAgents(
  reader: Reader,
  workspaceId: string,
  { statuses, servedBy }: AgentFilter,
  page: { nowMs: number; limit: number; before: string | null },
): Promise<AgentRow[]> {
  const status = statusSql(page.nowMs);
  const conditions = ['workspace_id = ?'];
  const values: SqlValue[] = [workspaceId];
  const narrow = (condition: string, ...more: SqlValue[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  if (page.before !== null) narrow('agent_id < ?', page.before);
  if (statuses !== undefined) {
    const isOneOf = `${status.text} IN (SELECT value FROM json_each(?))`;
    narrow(isOneOf, ...status.values, JSON.stringify(statuses));
  }
  if (servedBy !== undefined) {
    // The id cannot occur in a key, and hardly in another value: ids are long and random.
    narrow(
      `(capabilities LIKE ? OR (capabilities NOT LIKE '%"reposAllowed"%'
         AND token_id IN (SELECT value FROM json_each(?))))`,
      `%"${servedBy.repoId.replace(/[^\w]/g, '')}"%`,
      JSON.stringify(servedBy.tokenIds),
    );
  }
  return reader.allSql<AgentRow>(
    `SELECT ${allColumns.agents} FROM agents WHERE ${conditions.join(' AND ')} ORDER BY agent_id DESC LIMIT ?`,
    [...values, page.limit + 1],
  );
}

/** The number of agents in each status that occurs. */
export async function countAgents(
  reader: Reader,
  workspaceId: string,
  nowMs: number,
): Promise<ReadonlyMap<AgentStatus, number>> {
  const status = statusSql(nowMs);
  const rows = await reader.allSql<{ shown: AgentStatus; n: number }>(
    `SELECT shown, COUNT(*) AS n
     FROM (SELECT ${status.text} AS shown FROM agents WHERE workspace_id = ?) a GROUP BY shown`,
    [...status.values, workspaceId],
  );
  return new Map(rows.map(({ shown, n }) => [shown, n]));
}

/** The status of an agent as `agentStatusAt` judges it. */
function statusSql(nowMs: number): { text: string; values: readonly SqlValue[] } {
  return {
    text: `CASE WHEN last_seen_at <= ? THEN 'offline'
      WHEN status = 'online' AND (command = 'drain' OR (command IN ('stop', 'stop-now')
        AND (command_acknowledged_at IS NOT NULL OR command_asked_at > ?))) THEN 'draining'
      ELSE status END`,
    values: [nowMs - AGENT_OFFLINE_AFTER_MS, nowMs - STOP_COMMAND_EXPIRES_MS],
  };
}

/** The agents that have a status now. No command keeps online ones from getting jobs. */
export function listAgentsNow(
  reader: Reader,
  workspaceId: string,
  wanted: 'online' | 'draining',
  { nowMs, limit = Number.MAX_SAFE_INTEGER }: { nowMs: number; limit?: number },
): Promise<AgentRow[]> {
  const status = statusSql(nowMs);
  // The first condition is for the index.
  return reader.allSql<AgentRow>(
    `SELECT ${allColumns.agents} FROM agents WHERE workspace_id = ? AND last_seen_at > ? AND ${status.text} = ?
     LIMIT ?`,
    [workspaceId, nowMs - AGENT_OFFLINE_AFTER_MS, ...status.values, wanted, limit],
  );
}

/**
 * Takes all agents from their owners, so that each machine registers a new agent with its next
 * heartbeat. Claims without a generation are fenced by the id of their agent.
 *
 * @param mark is unique to this call: a machine may lose its agent several times.
 * @returns how many.
 */
export async function disownAgents(tx: Tx, mark: string): Promise<number> {
  const isOwned = sql("principal_id NOT LIKE 'restored:%'");
  const disowned = sql('? || principal_id', `restored:${mark}:`);
  return updateRows(tx, 'agents', { also: isOwned }, { principal_id: disowned, status: 'offline' });
}
