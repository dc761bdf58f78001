import type { KeptRead, Reader } from '../db/engine.ts';
import { firstKept } from '../db/kept-reads.ts';
import { columnsOf } from '../db/schema/columns.ts';
import type { Role } from '../db/schema/tables.ts';
import type { TokenRow } from './store.ts';

/*
 * The statements that authenticate a bearer. Nearly every request of an agent runs one of them, so
 * each reads everything that the decision needs in one statement, from other modules' tables too.
 */

/** A token with its person's name and current role; both null for service principals. */
export type TokenWithPerson = TokenRow & { role: Role | null; person_name: string | null };

/** Reads a token by its hash alone: the token determines the workspace. */
export function readTokenByHash(
  reader: Reader,
  tokenHash: string,
): Promise<TokenWithPerson | undefined> {
  return reader.firstSql<TokenWithPerson>(`${selectToken} WHERE t.token_hash = ?`, [tokenHash]);
}

/** Reads a token within a transaction that acts on its behalf. */
export function readTokenById(
  reader: Reader,
  workspaceId: string,
  tokenId: string,
): Promise<Readonly<TokenWithPerson> | undefined> {
  const values = [workspaceId, tokenId];
  // Read early on PostgreSQL, it could miss a revocation on another hub since BEGIN.
  return reader.engine === 'postgres'
    ? reader.firstSql<TokenWithPerson>(tokenById.sql, values)
    : firstKept<TokenWithPerson>(reader, tokenById, values);
}

/** Reads the tokens of callers that wait. Token ids are unique in all workspaces. */
export function listTokensById(
  reader: Reader,
  workspaceIds: readonly string[],
  tokenIds: readonly string[],
): Promise<TokenWithPerson[]> {
  return reader.allSql<TokenWithPerson>(
    `${selectToken} WHERE t.workspace_id IN (SELECT value FROM json_each(?))
       AND t.token_id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(workspaceIds), JSON.stringify(tokenIds)],
  );
}

const selectToken = `SELECT ${columnsOf('t', 'tokens')},
    m.role AS role, p.name AS person_name FROM tokens t
  LEFT JOIN memberships m ON m.workspace_id = t.workspace_id AND m.person_id = t.person_id
  LEFT JOIN people p ON p.person_id = t.person_id`;

const tokenById: KeptRead = {
  sql: `${selectToken} WHERE t.workspace_id = ? AND t.token_id = ?`,
  sources: ['tokens', 'memberships', 'people'],
};

/**
 * The running queue entry that a job token was issued for, and its run; and the token of the agent
 * that holds it, with the role of that token's person. The token's columns are null for an agent
 * without one, which uses the global token or none.
 */
export interface JobTokenRow {
  token_hash: string;
  workspace_id: string;
  entry_id: string;
  agent_id: string | null;
  lease_expires_at: number | null;
  run_id: string | null;
  kind: TokenRow['kind'] | null;
  expires_at: number | null;
  revoked_at: number | null;
  role: Role | null;
}

export function readJobTokenByHash(
  reader: Reader,
  tokenHash: string,
): Promise<JobTokenRow | undefined> {
  return reader.firstSql<JobTokenRow>(
    `${selectJobToken} WHERE e.job_token_hash = ? AND e.status = 'running'`,
    [tokenHash],
  );
}

/** Reads the job tokens of tools that wait. */
export function listJobTokensByHash(
  reader: Reader,
  tokenHashes: readonly string[],
): Promise<JobTokenRow[]> {
  return reader.allSql<JobTokenRow>(
    `${selectJobToken} WHERE e.job_token_hash IN (SELECT value FROM json_each(?))
       AND e.status = 'running'`,
    [JSON.stringify(tokenHashes)],
  );
}

const selectJobToken = `SELECT e.job_token_hash AS token_hash, e.workspace_id, e.entry_id,
    e.agent_id, e.lease_expires_at, j.run_id, t.kind, t.expires_at, t.revoked_at, m.role
  FROM queue_entries e
  LEFT JOIN jobs j ON j.workspace_id = e.workspace_id AND j.job_id = e.entry_id
  LEFT JOIN agents a ON a.workspace_id = e.workspace_id AND a.agent_id = e.agent_id
  LEFT JOIN tokens t ON t.workspace_id = a.workspace_id AND t.token_id = a.token_id
  LEFT JOIN memberships m ON m.workspace_id = t.workspace_id AND m.person_id = t.person_id`;
