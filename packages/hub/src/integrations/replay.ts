import { REPLAYS_MAX, type UnmatchedTrigger } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import type { Reader } from '../db/engine.ts';
import { HubError, invalidField } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import type { Principal } from '../principal.ts';
import { fireForEvent } from '../triggers/fire.ts';
import { type FiringRow, listFirings } from '../triggers/store-firings.ts';
import { type EventRow, readEvent, updateReplay } from './store.ts';
import { viewStored } from './view-actions.ts';

export interface Replay {
  replay: number;
  firings: FiringRow[];
  unmatched: UnmatchedTrigger[];
}

/**
 * Holds an event of the ledger against the triggers again. The rules, which make the outcome a
 * function of the ledger and the triggers alone:
 * - the triggers are those that are enabled now, in the order in which they were made;
 * - conditions and templates see what the data policy kept, never more;
 * - the context item is neither written nor read;
 * - a trigger that has started a run for this event, at any time, starts none again;
 * - hourly caps count this like everything else.
 *
 * @throws HubError EVENT_NOT_FOUND, NOT_ALLOWED; INVALID_REQUEST for an event that was ignored or
 *   forgotten, or replayed too often.
 */
export function replayEvent(
  deps: HubDeps,
  principal: Principal,
  { workspaceId, eventId }: { workspaceId: string; eventId: string },
): Promise<Replay> {
  return deps.database.write(workspaceId, async (tx) => {
    // A token proves itself by its scope; a person also by her role.
    if (principal.kind === 'person') {
      await requireAct(tx, principal, workspaceId, 'trigger.manage');
    }
    const row = await requireEvent(tx, workspaceId, eventId);
    checkReplay(row);
    const replay = row.replays + 1;
    const view = viewStored(row);
    const evaluation = { workspaceId, eventId, replay, seen: view, kept: view };
    const { firings, unmatched } = await fireForEvent(deps, tx, evaluation);
    await updateReplay(tx, { ...row, replays: replay, unmatched: JSON.stringify(unmatched) });
    await appendAudit(tx, {
      workspaceId,
      actor: principal.principalId,
      action: 'integration-event.replay',
      subject: eventId,
      data: { replay, started: firings.filter(({ outcome }) => outcome === 'started').length },
    });
    return { replay, firings, unmatched };
  });
}

/**
 * An event and all that triggers made of it.
 * @throws HubError EVENT_NOT_FOUND
 */
export async function readHistory(
  reader: Reader,
  workspaceId: string,
  eventId: string,
): Promise<{ row: EventRow; firings: FiringRow[] }> {
  const row = await requireEvent(reader, workspaceId, eventId);
  return { row, firings: await listFirings(reader, workspaceId, eventId) };
}

/** @throws HubError EVENT_NOT_FOUND, the same for unknown and foreign ids. */
async function requireEvent(
  reader: Reader,
  workspaceId: string,
  eventId: string,
): Promise<EventRow> {
  const row = await readEvent(reader, workspaceId, eventId);
  if (row === undefined) throw new HubError('EVENT_NOT_FOUND');
  return row;
}

function checkReplay(row: EventRow): void {
  if (row.status === 'ignored') {
    throw invalidField('/eventId', `names an event that was ignored (${row.ignored_reason})`);
  }
  if (row.forgotten_at !== null) {
    throw invalidField('/eventId', 'names an event whose content is gone');
  }
  if (row.replays >= REPLAYS_MAX) {
    throw invalidField('/eventId', `names an event that was replayed ${REPLAYS_MAX} times`);
  }
}
