import type { TriggerMatch, TriggerTest } from '@signalbox/contract';
import { invalidField } from '../base/errors.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { planJob } from '../triggers/fire.ts';
import { findMismatch, MatchBudget } from '../triggers/match-event.ts';
import { requireTrigger } from '../triggers/read.ts';
import { requireEvent } from './read-events.ts';
import { viewRecorded } from './record-event.ts';
import { checkEvaluable } from './replay.ts';

/**
 * Says what a trigger would do with an event of the ledger, and writes nothing. The trigger is
 * evaluated as in a replay, with an own budget for its patterns.
 *
 * @throws HubError EVENT_NOT_FOUND, TRIGGER_NOT_FOUND; INVALID_REQUEST for a schedule, and for an
 *   event that was ignored or whose content was deleted.
 */
export async function testTrigger(
  deps: Pick<HubDeps, 'database' | 'secretKey'>,
  { workspaceId, eventId, triggerId }: { workspaceId: string; eventId: string; triggerId: string },
): Promise<TriggerTest> {
  const { reader } = deps.database;
  const row = await requireEvent(reader, workspaceId, eventId);
  const trigger = await requireTrigger(reader, workspaceId, triggerId);
  checkEvaluable(row);
  if (trigger.type !== 'event') {
    throw invalidField('/triggerId', 'must be a trigger of type event');
  }
  const event = viewRecorded(row);
  // `save.ts` checked the match before it serialized it.
  const match = JSON.parse(trigger.match ?? '{}') as TriggerMatch;
  const failed = findMismatch(match, event, new MatchBudget());
  if (failed !== null) return { failed, refused: null, job: null };
  const planned = await planJob(deps, reader, trigger, eventId, { event });
  if ('refused' in planned) return { failed, refused: planned.refused, job: null };
  const { repo_id: repoId, priority } = trigger;
  return { failed, refused: null, job: { repoId, priority, ...planned } };
}
