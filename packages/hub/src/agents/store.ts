import type { Database, Reader, Tx } from '../db/engine.ts';
import type { AgentsTable } from '../db/schema/tables.ts';

export type AgentRow = AgentsTable;

export function readAgent(
  reader: Reader,
  workspaceId: string,
  agentId: string,
  rowLock: Reader['rowLock'] = '',
): Promise<AgentRow | undefined> {
  return reader.firstSql<AgentRow>(
    `SELECT * FROM agents WHERE workspace_id = ? AND agent_id = ?${rowLock}`,
    [workspaceId, agentId],
  );
}

/** One agent per workspace, principal and machine. */
export function readAgentOfMachine(
  reader: Reader,
  workspaceId: string,
  principalId: string,
  machineFingerprint: string,
): Promise<AgentRow | undefined> {
  return reader.firstSql<AgentRow>(
    `SELECT * FROM agents
     WHERE workspace_id = ? AND principal_id = ? AND machine_fingerprint = ?`,
    [workspaceId, principalId, machineFingerprint],
  );
}

const agentColumns = [
  'workspace_id',
  'agent_id',
  'principal_id',
  'token_id',
  'machine_fingerprint',
  'display_name',
  'status',
  'capabilities',
  'agent_version',
  'platform',
  'arch',
  'last_seen_at',
  'created_at',
] as const satisfies readonly (keyof AgentRow)[];

const INSERT_AGENT = `INSERT INTO agents (${agentColumns.join(', ')})
  VALUES (${agentColumns.map(() => '?').join(', ')})`;

export async function insertAgent(tx: Tx, row: AgentRow): Promise<void> {
  await tx.runSql(
    INSERT_AGENT,
    agentColumns.map((column) => row[column]),
  );
}

/** Writes the fields that each heartbeat reports. */
export async function updateAgent(tx: Tx, row: AgentRow): Promise<void> {
  await tx.runSql(
    `UPDATE agents SET token_id = ?, display_name = ?, status = ?, capabilities = ?,
       agent_version = ?, platform = ?, arch = ?, last_seen_at = ?
     WHERE workspace_id = ? AND agent_id = ?`,
    [
      row.token_id,
      row.display_name,
      row.status,
      row.capabilities,
      row.agent_version,
      row.platform,
      row.arch,
      row.last_seen_at,
      row.workspace_id,
      row.agent_id,
    ],
  );
}

/** Records that the agent was heard from now, by a claim with this token. */
export async function touchAgent(
  tx: Tx,
  workspaceId: string,
  agentId: string,
  tokenId: string,
): Promise<void> {
  await tx.runSql(
    'UPDATE agents SET last_seen_at = ?, token_id = ? WHERE workspace_id = ? AND agent_id = ?',
    [tx.nowMs, tokenId, workspaceId, agentId],
  );
}

/** Newest first; one more than `limit`, so that the caller sees if there is a next page. */
export function listAgents(
  database: Database,
  workspaceId: string,
  page: { limit: number; before: string | null },
): Promise<AgentRow[]> {
  let query = database.build
    .selectFrom('agents')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('agent_id', 'desc')
    .limit(page.limit + 1);
  if (page.before !== null) query = query.where('agent_id', '<', page.before);
  return database.reader.all(query);
}

/** The agents that are online: those heard from after a time, and not draining. */
export function listOnlineAgents(
  reader: Reader,
  workspaceId: string,
  seenAfterMs: number,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<AgentRow[]> {
  return reader.allSql<AgentRow>(
    `SELECT * FROM agents WHERE workspace_id = ? AND last_seen_at > ? AND status = 'online'
     LIMIT ?`,
    [workspaceId, seenAfterMs, limit],
  );
}
