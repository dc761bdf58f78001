import type { TriggersTable } from '../db/schema/integrations.ts';

type Row = Pick<TriggersTable, 'type' | 'enabled'>;

/** Whether the clock is to watch it. */
export function isScheduled(row: Row): boolean {
  return row.type === 'schedule' && row.enabled === 1;
}
