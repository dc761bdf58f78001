import type { endpoints, RequestInput } from '@signalbox/contract';
import { conditions } from '../db/conditions.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { updateRows } from '../db/row-write.ts';
import { allColumns, columnsOf } from '../db/schema/columns.ts';
import type { TriggersTable } from '../db/schema/integrations.ts';

export type TriggerRow = TriggersTable;

/** A trigger with the time when it last started a run. */
export type TriggerWithUse = TriggerRow & { last_fired_at: number | null };

const selectWithUse = `SELECT ${columnsOf('t', 'triggers')}, (
    SELECT MAX(f.at) FROM trigger_firings f
    WHERE f.workspace_id = t.workspace_id AND f.trigger_id = t.trigger_id AND f.outcome = 'started'
  ) AS last_fired_at FROM triggers t`;

export function readTrigger(
  reader: Reader,
  workspaceId: string,
  triggerId: string,
): Promise<TriggerWithUse | undefined> {
  return reader.firstSql<TriggerWithUse>(
    `${selectWithUse} WHERE t.workspace_id = ? AND t.trigger_id = ?`,
    [workspaceId, triggerId],
  );
}

/**
 * Newest first. One row more than `limit`, so that the caller sees whether there is a next page.
 */
export function listTriggers(
  reader: Reader,
  filter: RequestInput<typeof endpoints.triggers.list.request>,
  page: { limit: number; before: string | null },
): Promise<TriggerWithUse[]> {
  const { sql, values } = conditions([
    ['t.workspace_id = ?', filter.workspaceId],
    ['t.type = ?', filter.type],
    ['t.repo_id = ?', filter.repoId],
    ['t.trigger_id < ?', page.before],
  ]);
  return reader.allSql<TriggerWithUse>(
    `${selectWithUse} WHERE ${sql} ORDER BY t.trigger_id DESC LIMIT ?`,
    [...values, page.limit + 1],
  );
}

/** Lists the enabled event triggers, in the order of their creation. */
export function listEventTriggers(reader: Reader, workspaceId: string): Promise<TriggerRow[]> {
  return reader.allSql<TriggerRow>(
    `SELECT ${allColumns.triggers} FROM triggers WHERE workspace_id = ? AND type = 'event' AND enabled = 1
     ORDER BY trigger_id`,
    [workspaceId],
  );
}

export async function countTriggers(reader: Reader, workspaceId: string): Promise<number> {
  const row = await reader.firstSql<{ count: number }>(
    'SELECT COUNT(*) AS count FROM triggers WHERE workspace_id = ?',
    [workspaceId],
  );
  return row?.count ?? 0;
}

export async function updateTrigger(
  tx: Tx,
  { workspace_id, trigger_id, ...changes }: TriggerRow,
): Promise<void> {
  await updateRows(tx, 'triggers', { workspace_id, trigger_id }, changes);
}

/** Lists schedules whose slot is due, in all workspaces, longest due first. */
export function listDueTriggers(
  reader: Reader,
  nowMs: number,
  limit: number,
): Promise<TriggerRow[]> {
  return reader.allSql<TriggerRow>(
    `SELECT ${allColumns.triggers} FROM triggers WHERE next_fire_at IS NOT NULL AND next_fire_at <= ?
     ORDER BY next_fire_at LIMIT ?`,
    [nowMs, limit],
  );
}

/**
 * Claims a slot: among all hubs that saw it due, one gets true. False also when the trigger was
 * changed or disabled since it was read.
 */
export async function claimSlot(
  tx: Tx,
  row: TriggerRow,
  nextFireAtMs: number | null,
): Promise<boolean> {
  const changes = await updateRows(
    tx,
    'triggers',
    {
      workspace_id: row.workspace_id,
      trigger_id: row.trigger_id,
      next_fire_at: row.next_fire_at,
      updated_at: row.updated_at,
    },
    { next_fire_at: nextFireAtMs },
  );
  return changes > 0;
}
