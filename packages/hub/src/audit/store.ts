import type { Database, Reader } from '../db/engine.ts';
import type { AuditEntriesTable } from '../db/schema/tables.ts';

export type AuditEntry = AuditEntriesTable;
/** With the name of the person who acted; null: no person did. */
export type AuditEntryWithName = AuditEntry & { actor_name: string | null };

export interface AuditFilter {
  actor: string | undefined;
  action: string | undefined;
  subject: string | undefined;
  fromMs: number | undefined;
  untilMs: number | undefined;
}

/** Newest first; one more than `limit`. */
export function listAuditEntries(
  database: Database,
  workspaceId: string,
  filter: AuditFilter,
  page: { limit: number; before: number | null },
): Promise<AuditEntryWithName[]> {
  let query = database.build
    .selectFrom('audit_entries as a')
    .leftJoin('people as p', 'p.person_id', 'a.actor')
    .selectAll('a')
    .select('p.name as actor_name')
    .where('a.workspace_id', '=', workspaceId)
    .orderBy('a.seq', 'desc')
    .limit(page.limit + 1);
  if (page.before !== null) query = query.where('a.seq', '<', page.before);
  if (filter.actor !== undefined) query = query.where('a.actor', '=', filter.actor);
  if (filter.action !== undefined) query = query.where('a.action', '=', filter.action);
  if (filter.subject !== undefined) query = query.where('a.subject', '=', filter.subject);
  if (filter.fromMs !== undefined) query = query.where('a.at', '>=', filter.fromMs);
  if (filter.untilMs !== undefined) query = query.where('a.at', '<', filter.untilMs);
  return database.reader.all(query);
}

/** Oldest first, behind an entry. */
export function listChain(
  reader: Reader,
  workspaceId: string,
  afterSeq: number,
  limit: number,
): Promise<AuditEntry[]> {
  return reader.allSql<AuditEntry>(
    'SELECT * FROM audit_entries WHERE workspace_id = ? AND seq > ? ORDER BY seq LIMIT ?',
    [workspaceId, afterSeq, limit],
  );
}
