import { hash } from 'node:crypto';
import type { Tx } from '../db/engine.ts';
import type { AuditEntry } from './store.ts';

export type { AuditEntry } from './store.ts';

/** What somebody did. `data` is JSON for people to read; it never holds a secret. */
export interface AuditRecord {
  workspaceId: string;
  /** The principal's id, or `operator` for the hub's own command line. */
  actor: string;
  /** Noun and verb, such as `device.approve`. */
  action: string;
  /** The id of what it was done to. */
  subject: string;
  data?: Record<string, unknown>;
}

/** What the first entry of a workspace is chained to. */
export const CHAIN_START = '';

/**
 * Adds an entry to a workspace's audit log, in the action of what it tells of: both are kept or
 * neither. Each entry holds the hash of the one before, so a change to any breaks the chain.
 *
 * @returns the entry's number.
 */
export async function appendAudit(tx: Tx, record: AuditRecord): Promise<number> {
  const last = await tx.firstSql<Pick<AuditEntry, 'seq' | 'hash'>>(
    'SELECT seq, hash FROM audit_entries WHERE workspace_id = ? ORDER BY seq DESC LIMIT 1',
    [record.workspaceId],
  );
  const entry = {
    workspace_id: record.workspaceId,
    seq: (last?.seq ?? 0) + 1,
    at: tx.nowMs,
    actor: record.actor,
    action: record.action,
    subject: record.subject,
    data: JSON.stringify(record.data ?? {}),
    previous_hash: last?.hash ?? CHAIN_START,
  };
  await tx.runSql(
    `INSERT INTO audit_entries
       (workspace_id, seq, at, actor, action, subject, data, previous_hash, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [...Object.values(entry), hashAuditEntry(entry)],
  );
  return entry.seq;
}

/** SHA-256 over every field, the hash of the entry before among them. */
export function hashAuditEntry(entry: Omit<AuditEntry, 'hash'>): string {
  const { workspace_id, seq, at, actor, action, subject, data, previous_hash } = entry;
  return hash(
    'sha256',
    JSON.stringify([workspace_id, seq, at, actor, action, subject, data, previous_hash]),
  );
}
