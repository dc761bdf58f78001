import type { Reader, SqlValue, Tx } from '../db/engine.ts';
import { deleteRows, insertNewRow, sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { IntegrationEventsTable } from '../db/schema/integrations.ts';
import { matchText } from '../db/text-hash.ts';

export type IntegrationEventRow = IntegrationEventsTable;

/** An event without its long fields, for lists. */
export type IntegrationEventHead = Omit<
  IntegrationEventRow,
  'data' | 'extensions' | 'content' | 'unmatched'
>;

/**
 * Inserts an event unless its key exists. Of concurrent deliveries one inserts it; the others wait
 * for that transaction and then see the whole row.
 *
 * @returns whether the event was inserted.
 */
export async function insertEvent(tx: Tx, row: IntegrationEventRow): Promise<boolean> {
  return insertNewRow(tx, 'integration_events', row, ['workspace_id', 'key_hash']);
}

export function readEvent(
  reader: Reader,
  workspaceId: string,
  eventId: string,
): Promise<IntegrationEventRow | undefined> {
  return reader.firstSql<IntegrationEventRow>(
    `SELECT ${allColumns.integration_events} FROM integration_events WHERE workspace_id = ? AND event_id = ?`,
    [workspaceId, eventId],
  );
}

export function readEventByKey(
  reader: Reader,
  workspaceId: string,
  keyHash: string,
): Promise<IntegrationEventRow | undefined> {
  return reader.firstSql<IntegrationEventRow>(
    `SELECT ${allColumns.integration_events} FROM integration_events WHERE workspace_id = ? AND key_hash = ?`,
    [workspaceId, keyHash],
  );
}

/** Writes the status, context item and unmatched triggers of an event. */
export async function updateEventResult(
  tx: Tx,
  row: Pick<
    IntegrationEventRow,
    'workspace_id' | 'event_id' | 'status' | 'ignored_reason' | 'context_item_id' | 'unmatched'
  >,
): Promise<void> {
  await updateRows(
    tx,
    'integration_events',
    { workspace_id: row.workspace_id, event_id: row.event_id },
    {
      status: row.status,
      ignored_reason: row.ignored_reason,
      context_item_id: row.context_item_id,
      unmatched: row.unmatched,
    },
  );
}

export async function updateReplay(
  tx: Tx,
  row: Pick<IntegrationEventRow, 'workspace_id' | 'event_id' | 'replays' | 'unmatched'>,
): Promise<void> {
  await updateRows(
    tx,
    'integration_events',
    { workspace_id: row.workspace_id, event_id: row.event_id },
    { replays: row.replays, unmatched: row.unmatched },
  );
}

export interface EventFilter {
  channel?: string | undefined;
  status?: string | undefined;
  source?: string | undefined;
  type?: string | undefined;
}

const headColumns = [
  'workspace_id',
  'event_id',
  'key_hash',
  'channel',
  'source',
  'type',
  'status',
  'ignored_reason',
  'context_item_id',
  'occurred_at',
  'received_at',
  'replays',
  'forgotten_at',
  'title',
  'actor',
  'thread_ref',
  'source_ref',
] as const satisfies readonly (keyof IntegrationEventHead)[];

/**
 * Newest first. One row more than `limit`, so that the caller sees whether there is a next page.
 */
export function listEvents(
  reader: Reader,
  workspaceId: string,
  filter: EventFilter,
  page: { limit: number; before: string | null },
): Promise<IntegrationEventHead[]> {
  const conditions = ['workspace_id = ?'];
  const values: SqlValue[] = [workspaceId];
  for (const name of ['channel', 'status', 'source', 'type'] as const) {
    const value = filter[name];
    if (value === undefined) continue;
    conditions.push(`${name} = ?`);
    values.push(value);
  }
  if (page.before !== null) {
    conditions.push('event_id < ?');
    values.push(page.before);
  }
  return reader.allSql<IntegrationEventHead>(
    `SELECT ${headColumns.join(', ')} FROM integration_events
     WHERE ${conditions.join(' AND ')} ORDER BY event_id DESC LIMIT ?`,
    [...values, page.limit + 1],
  );
}

/** The columns of an event whose content is deleted. */
const contentDeleted = (tx: Tx) =>
  ({
    title: null,
    actor: null,
    thread_ref: null,
    source_ref: null,
    data: null,
    extensions: null,
    content: null,
    forgotten_at: tx.nowMs,
  }) as const;

/** Deletes the content of all events with one reference, as when a message was deleted. */
export async function deleteEventContent(
  tx: Tx,
  where: { workspaceId: string; source: string; sourceRef: string },
): Promise<void> {
  const { workspaceId, source, sourceRef } = where;
  const isOfReference = sql(matchText(tx.engine, 'source_ref'), sourceRef);
  await updateRows(
    tx,
    'integration_events',
    { workspace_id: workspaceId, source, also: isOfReference },
    contentDeleted(tx),
  );
}

/** Deletes the content of events that were received before a time. @returns how many. */
export async function deleteOldEventContent(
  tx: Tx,
  age: { workspaceId: string; beforeMs: number; limit: number },
): Promise<number> {
  const { workspaceId, beforeMs, limit } = age;
  const isOld = sql(
    `event_id IN (
       SELECT event_id FROM integration_events
       WHERE workspace_id = ? AND received_at < ? AND forgotten_at IS NULL
       ORDER BY received_at LIMIT ?)`,
    workspaceId,
    beforeMs,
    limit,
  );
  return updateRows(
    tx,
    'integration_events',
    { workspace_id: workspaceId, also: isOld },
    contentDeleted(tx),
  );
}

/** Lists the ids of events that were received before a time, oldest first. */
export async function listOldEventIds(
  reader: Reader,
  age: { workspaceId: string; beforeMs: number; limit: number },
): Promise<string[]> {
  const rows = await reader.allSql<{ event_id: string }>(
    `SELECT event_id FROM integration_events WHERE workspace_id = ? AND received_at < ?
     ORDER BY received_at LIMIT ?`,
    [age.workspaceId, age.beforeMs, age.limit],
  );
  return rows.map((row) => row.event_id);
}

export async function deleteEvent(tx: Tx, workspaceId: string, eventId: string): Promise<void> {
  await deleteRows(tx, 'integration_events', { workspace_id: workspaceId, event_id: eventId });
}
