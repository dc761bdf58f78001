import { HubError } from '../base/errors.ts';
import type { Reader } from '../db/engine.ts';
import { readTrigger, type TriggerWithUse } from './store.ts';

/** @throws HubError TRIGGER_NOT_FOUND, the same for unknown and foreign ids. */
export async function requireTrigger(
  reader: Reader,
  workspaceId: string,
  triggerId: string,
): Promise<TriggerWithUse> {
  const row = await readTrigger(reader, workspaceId, triggerId);
  if (row === undefined) throw new HubError('TRIGGER_NOT_FOUND');
  return row;
}
