import type { Database, Reader, Tx } from '../db/engine.ts';
import type { AgentsTable } from '../db/schema.ts';

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

export async function insertAgent(database: Database, tx: Tx, row: AgentRow): Promise<void> {
  await tx.run(database.build.insertInto('agents').values(row));
}

export async function updateAgent(database: Database, tx: Tx, row: AgentRow): Promise<void> {
  const { workspace_id, agent_id, created_at: _made, ...values } = row;
  await tx.run(
    database.build
      .updateTable('agents')
      .set(values)
      .where('workspace_id', '=', workspace_id)
      .where('agent_id', '=', agent_id),
  );
}

/** The agent has just been heard of, by a claim. */
export async function touchAgent(tx: Tx, workspaceId: string, agentId: string): Promise<void> {
  await tx.runSql('UPDATE agents SET last_seen_at = ? WHERE workspace_id = ? AND agent_id = ?', [
    tx.nowMs,
    workspaceId,
    agentId,
  ]);
}

/** Newest first; one more than `limit`, so that the caller sees whether there is a next page. */
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

/** Agents heard of after a time, whatever they said of themselves. */
export function listAgentsSeenAfter(
  reader: Reader,
  workspaceId: string,
  afterMs: number,
): Promise<AgentRow[]> {
  return reader.allSql<AgentRow>(
    'SELECT * FROM agents WHERE workspace_id = ? AND last_seen_at > ?',
    [workspaceId, afterMs],
  );
}

/** The jobs that an agent holds and is asked to stop. */
export async function listCancelRequests(
  reader: Reader,
  workspaceId: string,
  agentId: string,
): Promise<string[]> {
  const rows = await reader.allSql<{ entry_id: string }>(
    `SELECT entry_id FROM queue_entries WHERE workspace_id = ? AND agent_id = ?
       AND status = 'running' AND cancel_requested_at IS NOT NULL ORDER BY entry_id`,
    [workspaceId, agentId],
  );
  return rows.map((row) => row.entry_id);
}
