import { REPLAYS_MAX, type UnmatchedTrigger } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import { invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { fireForEvent } from '../triggers/fire.ts';
import type { FiringRow } from '../triggers/store-firings.ts';
import { requireEvent } from './read-events.ts';
import { viewRecorded } from './record-event.ts';
import { type IntegrationEventRow, updateEvent } from './store.ts';

export interface Replay {
  replay: number;
  firings: FiringRow[];
  unmatched: UnmatchedTrigger[];
}

/**
 * Evaluates the triggers again for an event of the ledger. The result depends on the ledger and the
 * triggers only:
 * - the triggers that are enabled now are evaluated, in the order of their creation;
 * - conditions and templates see what the data policy stored, never more;
 * - the context item is neither written nor read;
 * - a trigger that has ever started a run for this event does not start another;
 * - a replay counts towards hourly caps.
 *
 * @throws HubError EVENT_NOT_FOUND, NOT_ALLOWED; INVALID_REQUEST for an event that was ignored,
 *   whose content was deleted, or that was replayed too often.
 */
export function replayEvent(
  deps: HubDeps,
  principal: Principal,
  { workspaceId, eventId }: { workspaceId: string; eventId: string },
): Promise<Replay> {
  return deps.database.write(workspaceId, async (tx) => {
    // A token is authorized by its scope, a person also needs the role.
    if (principal.kind === 'person') {
      await requireAct(tx, principal, workspaceId, 'trigger.manage');
    }
    const row = await requireEvent(tx, workspaceId, eventId);
    checkEvaluable(row);
    if (row.replays >= REPLAYS_MAX) {
      throw invalidField('/eventId', `exceeds the limit of ${REPLAYS_MAX} replays of an event`);
    }
    const replay = row.replays + 1;
    const view = viewRecorded(row);
    const evaluation = { workspaceId, eventId, replay, matched: view, rendered: view };
    const { firings, unmatched } = await fireForEvent(deps, tx, evaluation);
    await updateEvent(tx, row, { replays: replay, unmatched: JSON.stringify(unmatched) });
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

/** @throws HubError INVALID_REQUEST for an event that triggers cannot see. */
export function checkEvaluable(row: IntegrationEventRow): void {
  if (row.status === 'ignored') {
    throw invalidField('/eventId', `must not be an ignored event (${row.ignored_reason})`);
  }
  if (row.forgotten_at !== null) {
    throw invalidField('/eventId', 'must be an event whose content still exists');
  }
}
