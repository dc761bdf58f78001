import type { Scope } from '@signalbox/contract';
import { scopesOfRole } from '../access/policy.ts';
import type { Reader } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';

/** An agent that holds leases although its token gives it no access any more. */
export interface EndedAgent {
  workspace_id: string;
  agent_id: string;
  token_id: string;
  revoked_at: number | null;
  expires_at: number;
}

const everyRole: readonly Role[] = ['owner', 'admin', 'member', 'viewer'];
const AGENT_SCOPE: Scope = 'agent';
const rolesOfAgents = everyRole
  .filter((role) => scopesOfRole(role).includes(AGENT_SCOPE))
  .map((role) => `'${role}'`)
  .join(', ');

/** An agent that holds leases or is asked for, with its token. */
const selectEnded = `SELECT held.workspace_id, held.agent_id, t.token_id, t.revoked_at, t.expires_at`;
const joinToken = `JOIN tokens t ON t.workspace_id = held.workspace_id AND t.token_id = held.token_id
  LEFT JOIN memberships m ON m.workspace_id = t.workspace_id AND m.person_id = t.person_id`;

/**
 * The agents that hold leases. Their tokens are read here, and not by a join: before the tables are
 * analyzed, PostgreSQL joined all tokens of a workspace with all of its agents, which took seconds.
 */
const HOLDERS = `SELECT workspace_id, agent_id,
    (SELECT token_id FROM agents a WHERE a.workspace_id = queue_entries.workspace_id
       AND a.agent_id = queue_entries.agent_id) AS token_id
  FROM queue_entries WHERE status = 'running' GROUP BY workspace_id, agent_id`;

/** Revoked, expired, or of a person who left or whose role runs no agents. */
const HAS_ENDED = `(t.revoked_at IS NOT NULL OR t.expires_at <= ?
  OR (t.kind = 'device' AND COALESCE(m.role, '') NOT IN (${rolesOfAgents})))`;

/** The agents of all workspaces that hold leases and whose token has ended. */
export function listEndedAgents(
  reader: Reader,
  nowMs: number,
  limit: number,
): Promise<EndedAgent[]> {
  return reader.allSql<EndedAgent>(
    `${selectEnded} FROM (${HOLDERS}) held ${joinToken} WHERE ${HAS_ENDED} LIMIT ?`,
    [nowMs, limit],
  );
}

/** The agent, if its token has ended still: it may have reported with another token meanwhile. */
export function readEndedAgent(
  reader: Reader,
  nowMs: number,
  { workspace_id, agent_id }: Pick<EndedAgent, 'workspace_id' | 'agent_id'>,
): Promise<EndedAgent | undefined> {
  return reader.firstSql<EndedAgent>(
    `${selectEnded} FROM agents held ${joinToken}
     WHERE held.workspace_id = ? AND held.agent_id = ? AND ${HAS_ENDED}`,
    [workspace_id, agent_id, nowMs],
  );
}
