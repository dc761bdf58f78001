import type { ActivityItem, AnswerOf, endpoints, RequestInput } from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import { PieceSizes } from '../http/paging.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { type ActivityRow, listActivities } from './store-log.ts';
import { requireLog } from './walk-log.ts';

/**
 * Reads a page of what the tool of an attempt did, in the order of its log. Long items end it
 * before its limit.
 *
 * @throws HubError JOB_NOT_FOUND
 */
export async function readActivity(
  { database: { reader } }: HubDeps,
  input: RequestInput<typeof endpoints.jobs.activity.request>,
): Promise<AnswerOf<typeof endpoints.jobs.activity>> {
  const { after, limit } = input;
  const ref = await requireLog(reader, input);
  // In pieces, since a thousand items may be tens of megabytes.
  const rows: ActivityRow[] = [];
  const pieces = new PieceSizes(limit);
  while (rows.length < limit && !pieces.areFull) {
    const count = pieces.next();
    const piece = await listActivities(reader, ref, {
      after: rows.at(-1)?.seq ?? after,
      limit: count,
    });
    for (const row of piece) {
      rows.push(row);
      pieces.add(row);
    }
    if (piece.length < count) break;
  }
  const items = rows.map(({ seq, line, at, data }) => {
    // It passed the contract's schema when it was appended.
    const piece = JSON.parse(data) as Pick<ActivityItem, 'activity'> & { at?: string };
    return { seq, line, at: piece.at ?? timestampOf(at), activity: piece.activity };
  });
  return { attempt: ref.attempt, items, nextAfter: items.at(-1)?.seq ?? after };
}
