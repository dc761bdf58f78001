import { hash, randomBytes } from 'node:crypto';
import { formatToken, type Scope, TOKEN_BYTES, type TokenKind } from '@signalbox/contract';
import type { Database, Reader, Tx } from '../db/engine.ts';
import type { Role, TokensTable } from '../db/schema/tables.ts';

export type TokenRow = TokensTable;

/** A token with what its person is now; both null for service principals. */
export type TokenWithPerson = TokenRow & { role: Role | null; person_name: string | null };

/** What a job token opens, by the running queue entry that it was handed out with. */
export interface JobTokenRow {
  workspace_id: string;
  entry_id: string;
  agent_id: string | null;
  lease_expires_at: number | null;
  run_id: string | null;
}

/** A new token; its text is shown once and kept nowhere. */
export function drawToken(kind: TokenKind): string {
  return formatToken(kind, randomBytes(TOKEN_BYTES));
}

/** What is kept of a token: 32 random bytes need neither salt nor a slow hash. */
export function hashToken(token: string): string {
  return hash('sha256', token);
}

/** Finds a token by its text's hash: here the workspace is the answer, not part of the question. */
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

/** A token with the names of its person and of who made it; null where that is no person. */
export type TokenWithNames = TokenRow & { person_name: string | null; creator_name: string | null };

const TOKEN_WITH_NAMES = `SELECT t.*, p.name AS person_name, c.name AS creator_name FROM tokens t
  LEFT JOIN people p ON p.person_id = t.person_id
  LEFT JOIN people c ON c.person_id = t.created_by`;

/** Those not revoked, newest first; some may have expired. One more than `limit`. */
export function listTokens(
  reader: Reader,
  workspaceId: string,
  filter: { kind: TokenRow['kind']; personId: string | null },
  page: { limit: number; before: string | null },
): Promise<TokenWithNames[]> {
  const ofPerson = filter.personId === null ? '' : 'AND t.person_id = ?';
  const isBefore = page.before === null ? '' : 'AND t.token_id < ?';
  const values = [workspaceId, filter.kind, filter.personId, page.before];
  return reader.allSql<TokenWithNames>(
    `${TOKEN_WITH_NAMES} WHERE t.workspace_id = ? AND t.kind = ? AND t.revoked_at IS NULL
     ${ofPerson} ${isBefore} ORDER BY t.token_id DESC LIMIT ?`,
    [...values.filter((value) => value !== null), page.limit + 1],
  );
}

/** A token that is not revoked. */
export function readToken(
  reader: Reader,
  workspaceId: string,
  tokenId: string,
): Promise<TokenWithNames | undefined> {
  return reader.firstSql<TokenWithNames>(
    `${TOKEN_WITH_NAMES} WHERE t.workspace_id = ? AND t.token_id = ? AND t.revoked_at IS NULL`,
    [workspaceId, tokenId],
  );
}

export interface TokenDraft {
  workspaceId: string;
  tokenId: string;
  tokenHash: string;
  kind: TokenRow['kind'];
  principalId: string;
  personId: string | null;
  name: string;
  scopes: readonly Scope[];
  expiresAtMs: number;
  createdBy: string;
}

export async function insertToken(database: Database, tx: Tx, draft: TokenDraft): Promise<void> {
  const row: TokenRow = {
    workspace_id: draft.workspaceId,
    token_id: draft.tokenId,
    token_hash: draft.tokenHash,
    kind: draft.kind,
    principal_id: draft.principalId,
    person_id: draft.personId,
    name: draft.name,
    scopes: JSON.stringify(draft.scopes),
    created_at: tx.nowMs,
    expires_at: draft.expiresAtMs,
    last_used_at: null,
    revoked_at: null,
    created_by: draft.createdBy,
  };
  await tx.run(database.build.insertInto('tokens').values(row));
}

/** Ends a token; false when it had ended before. */
export async function markTokenRevoked(
  tx: Tx,
  workspaceId: string,
  tokenId: string,
): Promise<boolean> {
  const { changes } = await tx.runSql(
    `UPDATE tokens SET revoked_at = ?
     WHERE workspace_id = ? AND token_id = ? AND revoked_at IS NULL`,
    [tx.nowMs, workspaceId, tokenId],
  );
  return changes > 0;
}

/** Ends all tokens of a person in a workspace. Returns how many. */
export async function revokePersonTokens(
  tx: Tx,
  workspaceId: string,
  personId: string,
): Promise<number> {
  const { changes } = await tx.runSql(
    `UPDATE tokens SET revoked_at = ?
     WHERE workspace_id = ? AND person_id = ? AND revoked_at IS NULL`,
    [tx.nowMs, workspaceId, personId],
  );
  return changes;
}

/** Notes a use. Both times only rise, and a token that has ended stays as it is. */
export async function noteTokenUse(
  tx: Tx,
  token: Pick<TokenRow, 'workspace_id' | 'token_id'>,
  use: { lastUsedAtMs: number; expiresAtMs: number },
): Promise<void> {
  await tx.runSql(
    `UPDATE tokens SET last_used_at = ?, expires_at = ?
     WHERE workspace_id = ? AND token_id = ? AND revoked_at IS NULL AND expires_at > ?
       AND expires_at <= ? AND (last_used_at IS NULL OR last_used_at <= ?)`,
    [
      use.lastUsedAtMs,
      use.expiresAtMs,
      token.workspace_id,
      token.token_id,
      use.lastUsedAtMs,
      use.expiresAtMs,
      use.lastUsedAtMs,
    ],
  );
}
