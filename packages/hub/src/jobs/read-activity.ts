import type { ActivityItem, endpoints, RequestInput, ResponseOf } from '@signalbox/contract';
import { timestampOf } from '../clock.ts';
import type { HubDeps } from '../hub-deps.ts';
import { listActivities } from './store-log.ts';
import { requireLog } from './walk-log.ts';

/**
 * Reads what the tool of an attempt did, in the order of its log.
 *
 * @throws HubError JOB_NOT_FOUND
 */
export async function readActivity(
  { database: { reader } }: HubDeps,
  input: RequestInput<typeof endpoints.jobs.activity.request>,
): Promise<Omit<ResponseOf<typeof endpoints.jobs.activity>, 'ok'>> {
  const { after, limit } = input;
  const ref = await requireLog(reader, input);
  const rows = await listActivities(reader, ref, { after, limit });
  const items = rows.map(({ seq, line, at, data }) => {
    // It passed the contract's schema when it was appended.
    const piece = JSON.parse(data) as Pick<ActivityItem, 'activity'> & { at?: string };
    return { seq, line, at: piece.at ?? timestampOf(at), activity: piece.activity };
  });
  return { attempt: ref.attempt, items, nextAfter: items.at(-1)?.seq ?? after };
}
