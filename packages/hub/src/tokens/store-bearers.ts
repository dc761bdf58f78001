import type { Reader } from '../db/engine.ts';
import type { Role } from '../db/schema/tables.ts';
import type { TokenRow } from './store.ts';

/*
 * The two statements that authenticate a bearer. Nearly every request of an agent runs one of them,
 * so each reads everything that the decision needs in one statement, from other modules' tables
 * too.
 */

/** A token with its person's name and current role; both null for service principals. */
export type TokenWithPerson = TokenRow & { role: Role | null; person_name: string | null };

/** Reads a token by its hash alone: the token determines the workspace. */
export function readTokenByHash(
  reader: Reader,
  tokenHash: string,
): Promise<TokenWithPerson | undefined> {
  return reader.firstSql<TokenWithPerson>(
    `SELECT t.*, m.role AS role, p.name AS person_name FROM tokens t
     LEFT JOIN memberships m ON m.workspace_id = t.workspace_id AND m.person_id = t.person_id
     LEFT JOIN people p ON p.person_id = t.person_id
     WHERE t.token_hash = ?`,
    [tokenHash],
  );
}

/** The running queue entry that a job token was issued for, and its run. */
export interface JobTokenRow {
  workspace_id: string;
  entry_id: string;
  agent_id: string | null;
  lease_expires_at: number | null;
  run_id: string | null;
}

export function readJobTokenByHash(
  reader: Reader,
  tokenHash: string,
): Promise<JobTokenRow | undefined> {
  return reader.firstSql<JobTokenRow>(
    `SELECT e.workspace_id, e.entry_id, e.agent_id, e.lease_expires_at, j.run_id
     FROM queue_entries e
     LEFT JOIN jobs j ON j.workspace_id = e.workspace_id AND j.job_id = e.entry_id
     WHERE e.job_token_hash = ? AND e.status = 'running'`,
    [tokenHash],
  );
}
