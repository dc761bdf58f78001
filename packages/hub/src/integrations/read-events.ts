import { HubError } from '../base/errors.ts';
import type { Reader } from '../db/engine.ts';
import { type FiringRow, listFirings } from '../triggers/store-firings.ts';
import { type IntegrationEventRow, readEvent } from './store.ts';

/**
 * Reads an event and all its trigger firings.
 * @throws HubError EVENT_NOT_FOUND
 */
export async function readEventHistory(
  reader: Reader,
  workspaceId: string,
  eventId: string,
): Promise<{ row: IntegrationEventRow; firings: FiringRow[] }> {
  const row = await requireEvent(reader, workspaceId, eventId);
  return { row, firings: await listFirings(reader, workspaceId, eventId) };
}

/** @throws HubError EVENT_NOT_FOUND, the same for unknown and foreign ids. */
export async function requireEvent(
  reader: Reader,
  workspaceId: string,
  eventId: string,
): Promise<IntegrationEventRow> {
  const row = await readEvent(reader, workspaceId, eventId);
  if (row === undefined) throw new HubError('EVENT_NOT_FOUND');
  return row;
}
