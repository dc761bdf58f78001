import {
  ALIKE_QUESTIONS_MAX,
  type endpoints,
  INBOX_QUESTIONS_MAX,
  type ListedUncertainty,
  type RequestInput,
  WAITING_JOBS_MAX,
} from '@signalbox/contract';
import { invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { decodeCursor, encodeCursor } from '../http/paging.ts';
import { countWaitingOnEach } from '../queue/store-waiting.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { presentSummary } from './present.ts';
import { listOpenByUrgency, type OpenQuestionRow, readUncertaintySummaries } from './store-list.ts';

type InboxInput = RequestInput<typeof endpoints.uncertainties.inbox.request>;

/** The place of a row in the inbox. */
interface Place {
  /** Of the question with the nearest one. */
  deadlineMs: number | null;
  waitingJobs: number;
  /** Of the oldest question among those with that deadline. */
  uncertaintyId: string;
}

interface InboxRow extends Place {
  alikeIds: string[];
}

/**
 * Lists open questions, the most urgent first, with alike ones in one row. The order is computed
 * here from a bounded number of questions, because the jobs that wait are known to the queue only.
 *
 * @throws HubError INVALID_REQUEST
 */
export async function listInbox(
  { database: { reader }, clock }: HubDeps,
  { principalId }: Principal,
  input: InboxInput,
): Promise<{ uncertainties: ListedUncertainty[]; nextCursor: string | null }> {
  const { workspaceId, kind, repoId, runId, jobId, promoted, mine, limit } = input;
  const after = readCursor(input.cursor);
  const filter = { kind, repoId, runId, jobId, promoted, mine, principalId, forAsker: false };
  const open = await listOpenByUrgency(reader, workspaceId, filter, INBOX_QUESTIONS_MAX);
  const jobIds = new Set(open.flatMap(({ job_id }) => job_id ?? []));
  const waiting =
    jobIds.size === 0 ? new Map() : await countWaitingOnEach(reader, workspaceId, [...jobIds]);
  const rows = foldAlike(open, waiting)
    .sort(compare)
    .filter((row) => after === null || compare(row, after) > 0);
  const page = rows.slice(0, limit);
  const ids = page.map(({ uncertaintyId }) => uncertaintyId);
  const read = await readUncertaintySummaries(reader, workspaceId, ids);
  const summaries = new Map(read.map((row) => [row.uncertainty_id, row]));
  const nowMs = clock.nowMs();
  const uncertainties = page.flatMap(({ uncertaintyId, waitingJobs, alikeIds }) => {
    const row = summaries.get(uncertaintyId);
    // Retention may have deleted it since.
    if (row === undefined) return [];
    const summary: ListedUncertainty = { ...presentSummary(row, undefined, nowMs), waitingJobs };
    if (alikeIds.length > 0) summary.alikeIds = alikeIds;
    return [summary];
  });
  const last = page.at(-1);
  const hasMore = rows.length > page.length && last !== undefined;
  return { uncertainties, nextCursor: hasMore ? encodeCursor(cursorKey(last)) : null };
}

/** One row for the questions that are alike, in the place of the most urgent one. */
function foldAlike(
  open: readonly OpenQuestionRow[],
  waiting: ReadonlyMap<string, number>,
): InboxRow[] {
  const rows: InboxRow[] = [];
  const jobsOf = new Map<InboxRow, Set<string>>();
  const byKey = new Map<string, InboxRow>();
  for (const { uncertainty_id, job_id, deadline_at, alike_key } of open) {
    let row = alike_key === null ? undefined : byKey.get(alike_key);
    if (row !== undefined && row.alikeIds.length < ALIKE_QUESTIONS_MAX - 1) {
      row.alikeIds.push(uncertainty_id);
    } else {
      row = {
        uncertaintyId: uncertainty_id,
        deadlineMs: deadline_at,
        waitingJobs: 0,
        alikeIds: [],
      };
      rows.push(row);
      jobsOf.set(row, new Set());
      if (alike_key !== null) byKey.set(alike_key, row);
    }
    if (job_id !== null) jobsOf.get(row)?.add(job_id);
  }
  for (const [row, jobIds] of jobsOf) {
    for (const jobId of jobIds) row.waitingJobs += waiting.get(jobId) ?? 0;
    row.waitingJobs = Math.min(row.waitingJobs, WAITING_JOBS_MAX);
  }
  return rows;
}

/** The nearest deadline first, past ones too; then the most waiting jobs; then the oldest. */
function compare(a: Place, b: Place): number {
  const dueMs = ({ deadlineMs }: Place) => deadlineMs ?? Number.MAX_SAFE_INTEGER;
  if (dueMs(a) !== dueMs(b)) return dueMs(a) - dueMs(b);
  if (a.waitingJobs !== b.waitingJobs) return b.waitingJobs - a.waitingJobs;
  return a.uncertaintyId < b.uncertaintyId ? -1 : Number(a.uncertaintyId > b.uncertaintyId);
}

function cursorKey({ uncertaintyId, deadlineMs, waitingJobs }: Place): string {
  return `${uncertaintyId}:${deadlineMs ?? ''}:${waitingJobs}`;
}

const placePattern = /^(\w+):(-?\d{0,16}):(\d{1,4})$/;

function readCursor(cursor: string | undefined): Place | null {
  const key = decodeCursor(cursor, 'uncertainty');
  if (key === null) return null;
  const [, uncertaintyId, deadline, waitingJobs] = placePattern.exec(key) ?? [];
  if (uncertaintyId === undefined) {
    throw invalidField('/cursor', 'must be a nextCursor of this list');
  }
  const deadlineMs = deadline === '' ? null : Number(deadline);
  return { uncertaintyId, deadlineMs, waitingJobs: Number(waitingJobs) };
}
