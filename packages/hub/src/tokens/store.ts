import { hash, randomBytes } from 'node:crypto';
import { formatToken, type Scope, TOKEN_BYTES, type TokenKind } from '@signalbox/contract';
import { conditions } from '../db/conditions.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { insertRow, sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { TokensTable } from '../db/schema/tables.ts';

export type TokenRow = TokensTable;

/** Generates a token. Its text is shown once and never stored. */
export function drawToken(kind: TokenKind): string {
  return formatToken(kind, randomBytes(TOKEN_BYTES));
}

/** The stored form of a token. 32 random bytes need neither a salt nor a slow hash. */
export function hashToken(token: string): string {
  return hash('sha256', token);
}

/** The tokens that were not revoked, newest first; some may have expired. One more than `limit`. */
export function listTokens(
  reader: Reader,
  workspaceId: string,
  filter: { kinds: readonly TokenRow['kind'][]; personId: string | null },
  page: { limit: number; before: string | null },
): Promise<TokenRow[]> {
  const given = conditions([
    ['workspace_id = ?', workspaceId],
    ['kind IN (SELECT value FROM json_each(?))', JSON.stringify(filter.kinds)],
    ['person_id = ?', filter.personId],
    ['token_id < ?', page.before],
  ]);
  return reader.allSql<TokenRow>(
    `SELECT ${allColumns.tokens} FROM tokens WHERE ${given.sql} AND revoked_at IS NULL
     ORDER BY token_id DESC LIMIT ?`,
    [...given.values, page.limit + 1],
  );
}

/** The live device tokens of a person and the live service tokens that they created. */
export function listTokensOfPerson(tx: Tx, personId: string): Promise<TokenRow[]> {
  return tx.allSql<TokenRow>(
    `SELECT ${allColumns.tokens} FROM tokens WHERE (person_id = ? OR created_by = ?)
       AND revoked_at IS NULL AND expires_at > ?
     ORDER BY workspace_id, token_id`,
    [personId, personId, tx.nowMs],
  );
}

/** The live service tokens of a workspace that a person created. */
export function listServiceTokensBy(
  tx: Tx,
  workspaceId: string,
  personId: string,
): Promise<TokenRow[]> {
  return tx.allSql<TokenRow>(
    `SELECT ${allColumns.tokens} FROM tokens WHERE workspace_id = ? AND kind = 'service' AND created_by = ?
       AND revoked_at IS NULL AND expires_at > ? ORDER BY token_id`,
    [workspaceId, personId, tx.nowMs],
  );
}

/** The tokens of all workspaces that are not revoked; some may have expired. */
export function listAllTokens(reader: Reader): Promise<TokenRow[]> {
  return reader.allSql<TokenRow>(
    `SELECT ${allColumns.tokens} FROM tokens WHERE revoked_at IS NULL
     ORDER BY workspace_id, kind, token_id`,
    [],
  );
}

/** A token that is not revoked. */
export function readToken(
  reader: Reader,
  workspaceId: string,
  tokenId: string,
): Promise<TokenRow | undefined> {
  return reader.firstSql<TokenRow>(
    `SELECT ${allColumns.tokens} FROM tokens WHERE workspace_id = ? AND token_id = ? AND revoked_at IS NULL`,
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
  /** Default: null. */
  renewableUntilMs?: number;
}

export async function insertToken(tx: Tx, draft: TokenDraft): Promise<void> {
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
    renewable_until: draft.renewableUntilMs ?? null,
  };
  insertRow(tx, 'tokens', row);
}

/** Gives a token another text and later ends, unless it was revoked. Returns whether it did. */
export async function renewToken(
  tx: Tx,
  { workspaceId, tokenId }: { workspaceId: string; tokenId: string },
  next: { tokenHash: string; expiresAtMs: number; renewableUntilMs: number },
): Promise<boolean> {
  const changes = await updateRows(
    tx,
    'tokens',
    { workspace_id: workspaceId, token_id: tokenId, revoked_at: null },
    {
      token_hash: next.tokenHash,
      expires_at: next.expiresAtMs,
      renewable_until: next.renewableUntilMs,
    },
  );
  return changes > 0;
}

/** Revokes a token. Returns false if it was revoked already. */
export async function markTokenRevoked(
  tx: Tx,
  workspaceId: string,
  tokenId: string,
): Promise<boolean> {
  const changes = await updateRows(
    tx,
    'tokens',
    { workspace_id: workspaceId, token_id: tokenId, revoked_at: null },
    { revoked_at: tx.nowMs },
  );
  return changes > 0;
}

/** Revokes all tokens of a person in a workspace. Returns how many. */
export async function revokePersonTokens(
  tx: Tx,
  workspaceId: string,
  personId: string,
): Promise<number> {
  const changes = await updateRows(
    tx,
    'tokens',
    { workspace_id: workspaceId, person_id: personId, revoked_at: null },
    { revoked_at: tx.nowMs },
  );
  return changes;
}

/** Records a use. Both times only increase; a revoked or expired token is not changed. */
export async function recordTokenUse(
  tx: Tx,
  token: Pick<TokenRow, 'workspace_id' | 'token_id'>,
  use: { lastUsedAtMs: number; expiresAtMs: number },
): Promise<void> {
  const { lastUsedAtMs, expiresAtMs } = use;
  const isOlder = sql(
    'expires_at > ? AND expires_at <= ? AND (last_used_at IS NULL OR last_used_at <= ?)',
    lastUsedAtMs,
    expiresAtMs,
    lastUsedAtMs,
  );
  const { workspace_id, token_id } = token;
  await updateRows(
    tx,
    'tokens',
    { workspace_id, token_id, revoked_at: null, also: isOlder },
    { last_used_at: lastUsedAtMs, expires_at: expiresAtMs },
  );
}
