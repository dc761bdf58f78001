import type { endpoints, RequestInput } from '@signalbox/contract';
import { conditions } from '../db/conditions.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { insertNewRow, sql, updateRows } from '../db/row-write.ts';
import { allColumns, columnsWithout } from '../db/schema/columns.ts';
import type { IntegrationEventsTable } from '../db/schema/integrations.ts';
import { matchText } from '../db/text-hash.ts';

export type IntegrationEventRow = IntegrationEventsTable;

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

/** Writes some columns of an event. */
export async function updateEvent(
  tx: Tx,
  { workspace_id, event_id }: Pick<IntegrationEventRow, 'workspace_id' | 'event_id'>,
  changes: Partial<IntegrationEventRow>,
): Promise<void> {
  await updateRows(tx, 'integration_events', { workspace_id, event_id }, changes);
}

/** An event without its long fields, for lists. */
export type IntegrationEventHead = Omit<IntegrationEventRow, (typeof longColumns)[number]>;
const longColumns = ['data', 'extensions', 'content', 'unmatched'] as const;

/**
 * Newest first. One row more than `limit`, so that the caller sees whether there is a next page.
 */
export function listEvents(
  reader: Reader,
  filter: RequestInput<typeof endpoints.integrationEvents.list.request>,
  page: { limit: number; before: string | null },
): Promise<IntegrationEventHead[]> {
  const given = conditions([
    ['workspace_id = ?', filter.workspaceId],
    ['channel = ?', filter.channel],
    ['status = ?', filter.status],
    ['source = ?', filter.source],
    ['type = ?', filter.type],
    ['event_id < ?', page.before],
  ]);
  return reader.allSql<IntegrationEventHead>(
    `SELECT ${columnsWithout('integration_events', longColumns)} FROM integration_events
     WHERE ${given.sql} ORDER BY event_id DESC LIMIT ?`,
    [...given.values, page.limit + 1],
  );
}

/** The columns of an event whose content is deleted. */
export const contentDeleted = (tx: Tx) =>
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
