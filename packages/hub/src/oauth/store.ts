import { hash } from 'node:crypto';
import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, insertRow, sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { OauthClientsTable, OauthSecretsTable } from '../db/schema/tables.ts';

export type SecretRow = OauthSecretsTable;
export type ClientRow = OauthClientsTable;

/** The stored form of a code or refresh token, which is 32 random bytes. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}

/** Reads a secret by its hash alone: the secret determines the workspace. */
export function readSecret(reader: Reader, secretHash: string): Promise<SecretRow | undefined> {
  return reader.firstSql<SecretRow>(
    `SELECT ${allColumns.oauth_secrets} FROM oauth_secrets WHERE secret_hash = ?`,
    [secretHash],
  );
}

export function insertSecret(tx: Tx, row: Omit<SecretRow, 'created_at' | 'used_at'>): void {
  insertRow(tx, 'oauth_secrets', { ...row, created_at: tx.nowMs, used_at: null });
}

export async function markSecretUsed(
  tx: Tx,
  { workspace_id, secret_hash }: SecretRow,
  sealedTokens: string | null,
): Promise<void> {
  await updateRows(
    tx,
    'oauth_secrets',
    { workspace_id, secret_hash },
    { used_at: tx.nowMs, sealed_tokens: sealedTokens },
  );
}

/** Deletes secrets of all workspaces that ended before a time, at most `limit`. */
export async function deleteOldSecrets(tx: Tx, beforeMs: number, limit: number): Promise<void> {
  const isOld = sql(
    `secret_hash IN (
       SELECT secret_hash FROM oauth_secrets WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
    beforeMs,
    limit,
  );
  await deleteRows(tx, 'oauth_secrets', { also: isOld });
}

export function readClient(reader: Reader, clientId: string): Promise<ClientRow | undefined> {
  return reader.firstSql<ClientRow>(
    `SELECT ${allColumns.oauth_clients} FROM oauth_clients WHERE client_id = ?`,
    [clientId],
  );
}

export function insertClient(tx: Tx, row: Omit<ClientRow, 'created_at'>): void {
  insertRow(tx, 'oauth_clients', { ...row, created_at: tx.nowMs });
}

export async function keepClient(tx: Tx, clientId: string, untilMs: number): Promise<void> {
  await updateRows(tx, 'oauth_clients', { client_id: clientId }, { expires_at: untilMs });
}

/** The registrations of a block of addresses since a time, and of all that end before another. */
export async function countClients(
  tx: Tx,
  of: { addressBlock: string; sinceMs: number; endBeforeMs: number },
): Promise<{ ofAddress: number; unused: number }> {
  const ofAddress = await tx.firstSql<{ n: number }>(
    'SELECT COUNT(*) AS n FROM oauth_clients WHERE address_block = ? AND created_at > ?',
    [of.addressBlock, of.sinceMs],
  );
  const unused = await tx.firstSql<{ n: number }>(
    'SELECT COUNT(*) AS n FROM oauth_clients WHERE expires_at <= ?',
    [of.endBeforeMs],
  );
  return { ofAddress: Number(ofAddress?.n ?? 0), unused: Number(unused?.n ?? 0) };
}

/** Deletes registered clients that have ended, at most `limit`. */
export async function deleteEndedClients(tx: Tx, limit: number): Promise<void> {
  const hasEnded = sql(
    `client_id IN (
       SELECT client_id FROM oauth_clients WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
    tx.nowMs,
    limit,
  );
  await deleteRows(tx, 'oauth_clients', { also: hasEnded });
}
