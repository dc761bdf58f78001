import type { Reader } from '../db/engine.ts';
import type { Entry } from './entry.ts';

/** Entries read for each agent; `held` counts all of them. */
const ENTRIES_OF_AGENT_MAX = 20;

export interface HeldEntry extends Pick<Entry, 'entry_id' | 'queue' | 'started_at'> {
  agent_id: string;
  /** How many entries the agent holds. */
  held: number;
}

/** The newest entries that each of some agents holds, of all queues, in one statement. */
export function listRunningOfAgents(
  reader: Reader,
  workspaceId: string,
  agentIds: readonly string[],
): Promise<HeldEntry[]> {
  return reader.allSql<HeldEntry>(
    `SELECT agent_id, entry_id, queue, started_at, held FROM (
       SELECT agent_id, entry_id, queue, started_at,
         COUNT(*) OVER (PARTITION BY agent_id) AS held,
         ROW_NUMBER() OVER (PARTITION BY agent_id ORDER BY entry_id DESC) AS place
       FROM queue_entries WHERE workspace_id = ? AND status = 'running'
         AND agent_id IN (SELECT value FROM json_each(?))
     ) r WHERE place <= ? ORDER BY agent_id, entry_id DESC`,
    [workspaceId, JSON.stringify(agentIds), ENTRIES_OF_AGENT_MAX],
  );
}
