import { conditions } from '../db/conditions.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { AuditEntriesTable } from '../db/schema/tables.ts';

export type AuditEntry = AuditEntriesTable;

interface AuditFilter {
  actor: string | undefined;
  action: string | undefined;
  subject: string | undefined;
  fromMs: number | undefined;
  untilMs: number | undefined;
}

/** Newest first; one more than `limit`. */
export function listAuditEntries(
  reader: Reader,
  workspaceId: string,
  filter: AuditFilter,
  page: { limit: number; before: number | null },
): Promise<AuditEntry[]> {
  const { sql, values } = conditions([
    ['workspace_id = ?', workspaceId],
    ['seq < ?', page.before],
    ['actor = ?', filter.actor],
    ['action = ?', filter.action],
    ['subject = ?', filter.subject],
    ['at >= ?', filter.fromMs],
    ['at < ?', filter.untilMs],
  ]);
  return reader.allSql(
    `SELECT ${allColumns.audit_entries} FROM audit_entries WHERE ${sql} ORDER BY seq DESC LIMIT ?`,
    [...values, page.limit + 1],
  );
}

/** The entries after a number, oldest first. */
export function listAuditEntriesAfter(
  reader: Reader,
  workspaceId: string,
  afterSeq: number,
  limit: number,
): Promise<AuditEntry[]> {
  return reader.allSql<AuditEntry>(
    `SELECT ${allColumns.audit_entries} FROM audit_entries WHERE workspace_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
    [workspaceId, afterSeq, limit],
  );
}

export function readLastAuditEntry(
  reader: Reader,
  workspaceId: string,
): Promise<Pick<AuditEntry, 'seq' | 'hash'> | undefined> {
  return reader.firstSql<Pick<AuditEntry, 'seq' | 'hash'>>(
    'SELECT seq, hash FROM audit_entries WHERE workspace_id = ? ORDER BY seq DESC LIMIT 1',
    [workspaceId],
  );
}

export async function insertAuditEntry(tx: Tx, row: AuditEntry): Promise<void> {
  insertRow(tx, 'audit_entries', row);
}
