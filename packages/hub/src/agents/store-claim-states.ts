import type { Reader } from '../db/engine.ts';

export interface ClaimState {
  workspace_id: string;
  agent_id: string;
  /** Differs from the previous text whenever the agent may get other jobs than before. */
  state: string;
}

/**
 * Reads, for agents whose claims wait on this hub, a digest of everything except the entries that
 * decides which jobs they may get: their status and capabilities, the jobs they hold, pauses, the
 * repositories and those they serve, and the entries that prefer them. PostgreSQL only, where
 * another hub may change any of it.
 *
 * One statement for all waiting claims: hubs run it every few seconds.
 */
export function listClaimStates(
  reader: Reader,
  agents: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<ClaimState[]> {
  const wanted = [...agents].flatMap(([workspace_id, ids]) =>
    [...ids].map((agent_id) => ({ workspace_id, agent_id })),
  );
  return reader.allSql<ClaimState>(
    `WITH places AS MATERIALIZED (
       SELECT w.workspace_id, concat_ws(' ', w.queue_paused_at, (
         SELECT md5(string_agg(concat_ws(' ', r.repo_id, r.status, r.queue_paused_at), ','
           ORDER BY r.repo_id))
         FROM repositories AS r WHERE r.workspace_id = w.workspace_id
       )) AS state
       FROM json_array_elements_text(?::json) AS parked(workspace_id)
       JOIN workspaces AS w ON w.workspace_id = parked.workspace_id
     ),
     parked_agents AS MATERIALIZED (
       SELECT a.workspace_id, a.agent_id, a.status, a.capabilities, a.token_id, a.command,
         a.command_number
       FROM json_to_recordset(?::json) AS wanted(workspace_id text, agent_id text)
       JOIN agents AS a ON a.workspace_id = wanted.workspace_id AND a.agent_id = wanted.agent_id
     ),
     -- Many agents may share a token, and a token may know many repositories.
     parked_tokens AS MATERIALIZED (
       SELECT p.workspace_id, p.token_id, (
         SELECT COUNT(*) FROM token_repositories AS t
         WHERE t.workspace_id = p.workspace_id AND t.token_id = p.token_id
       ) AS repositories
       FROM (SELECT DISTINCT workspace_id, token_id FROM parked_agents) AS p
     )
     SELECT a.workspace_id, a.agent_id, md5(concat_ws(' ',
       places.state, a.status, a.capabilities, a.token_id, a.command, a.command_number,
       parked_tokens.repositories,
       (SELECT COUNT(*) FROM queue_entries AS e
        WHERE e.workspace_id = a.workspace_id AND e.agent_id = a.agent_id
          AND e.status = 'running'),
       (SELECT COUNT(*) FROM queue_entries AS e
        WHERE e.workspace_id = a.workspace_id AND e.prefer_agent_id = a.agent_id
          AND e.hold = 'preferred')
     )) AS state
     FROM parked_agents AS a
     JOIN places ON places.workspace_id = a.workspace_id
     JOIN parked_tokens
       ON parked_tokens.workspace_id = a.workspace_id AND parked_tokens.token_id = a.token_id`,
    [JSON.stringify([...agents.keys()]), JSON.stringify(wanted)],
  );
}
