import {
  type AnswerOf,
  type endpoints,
  type JobCounts,
  type JobEvent,
  type JobReview,
  type JobRound,
  type JobStatus,
  jobStatuses,
  type ListedJob,
  REVIEWS_LISTED_MAX,
  type RequestInput,
  ROUNDS_LISTED_MAX,
  type Work,
} from '@signalbox/contract';
import { findChangesPlace, presentPlace } from '../agents/patch-requests.ts';
import { readTimestamp } from '../base/clock.ts';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal, RequestContext } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import { PieceSizes, readByKeys } from '../http/paging.ts';
import { countReadyBefore } from '../queue/store-waiting.ts';
import { runHooks } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { explainWaiting, POSITION_MAX } from './explain-waiting.ts';
import { listAttempts } from './list-attempts.ts';
import { commitOf } from './policy.ts';
import {
  presentJob,
  presentJobEvent,
  presentMessage,
  presentSummary,
  takesMessages,
} from './present.ts';
import { hasNotEnded, readWork } from './read-work.ts';
import { type JobRecord, requireJob } from './require-job.ts';
import { keepByLog } from './search-log.ts';
import { type JobEventRow, listEvents, listLastEvents } from './store-events.ts';
import { countJobs, type JobFilter, type JobIdPage, listJobIds } from './store-list.ts';
import { listMessages, listReviews, readRounds } from './store-rounds.ts';
import { readCreator, readJobSummaries, readWholeJob, readWholeJobs } from './store-whole.ts';
import { listVariants } from './variants.ts';
import { explainPage, type PendingRow } from './waiting-reasons.ts';

type ListInput = RequestInput<typeof endpoints.jobs.list.request>;
type CountInput = RequestInput<typeof endpoints.jobs.counts.request>;
type JobView = AnswerOf<typeof endpoints.jobs.get>;

/** Jobs whose logs are searched for one page of a list. */
const LOGS_MAX = 200;
/** In addition to the cost of a list: it is as much work as jobs/search-log. */
const LOG_UNITS = 30;

/**
 * Lists a page of jobs, newest first, and the id before which the next page starts.
 *
 * @throws HubError INVALID_REQUEST, RATE_LIMITED; NOT_ALLOWED: the tool of a job searches logs.
 */
export async function listJobs(
  deps: HubDeps,
  context: RequestContext,
  input: ListInput,
  before: string | null,
): Promise<{ jobs: ListedJob[]; before: string | null }> {
  const { reader } = deps.database;
  const { workspaceId, status, statuses = null, text } = input;
  const wanted = status === undefined ? statuses : [status];
  const filter = {
    ...filterOf(context.principal, input),
    text,
    // With both filters, both must match.
    statuses: wanted?.filter((each) => statuses?.includes(each) ?? true) ?? null,
  };
  const page =
    input.limitPerStatus === undefined
      ? await listIds(deps, context, input, filter, before)
      : await listIdsPerStatus(reader, input, filter);
  const pending: PendingRow[] = [];
  // Retention may have deleted a job between the two statements.
  const { rows: jobs, keysRead } = await readByKeys(
    page.ids,
    (ids) => readListed(reader, input, ids, pending),
    (job) => job.jobId,
  );
  if (input.fields.includes('waitingReason')) {
    const reasons = await explainPage(deps, workspaceId, pending);
    for (const job of jobs) Object.assign(job, reasons.get(job.jobId));
  }
  const isCut = keysRead < page.ids.length;
  return { jobs, before: isCut ? (page.ids[keysRead - 1] ?? null) : page.before };
}

/** A page of ids. With a text of logs, those of a bounded number of jobs are searched for it. */
async function listIds(
  deps: HubDeps,
  context: RequestContext,
  { workspaceId, limit, logText }: ListInput,
  filter: JobFilter,
  before: string | null,
): Promise<JobIdPage> {
  const { reader } = deps.database;
  if (logText === undefined) {
    return await listJobIds(reader, workspaceId, filter, { limit, before });
  }
  // The tool of a job reads no log but its own.
  if (context.principal.job !== null) throw new HubError('NOT_ALLOWED');
  context.pay({ units: LOG_UNITS, isLease: false });
  const page = await listJobIds(reader, workspaceId, filter, { limit: LOGS_MAX, before });
  const wanted = { workspaceId, ids: page.ids, text: logText, limit };
  const { kept, examined } = await keepByLog(deps, context, wanted);
  const isCut = examined < page.ids.length;
  return { ids: kept, before: isCut ? (page.ids[examined - 1] ?? null) : page.before };
}

/**
 * The ids of the newest jobs of each status. Each job is read afterwards, once, so that one that
 * changes its status meanwhile is listed with its new one only.
 *
 * @throws HubError INVALID_REQUEST: with a cursor, or with long fields, after which a page ends.
 */
async function listIdsPerStatus(
  reader: Reader,
  { workspaceId, view, fields, cursor, logText, limitPerStatus = 1 }: ListInput,
  filter: JobFilter,
): Promise<JobIdPage> {
  const hasLongFields = view !== 'summary' || fields.some((field) => field !== 'waitingReason');
  if (hasLongFields) throw invalidField('/limitPerStatus', 'needs summaries without long fields');
  if (cursor !== undefined) throw invalidField('/cursor', 'does not go with limitPerStatus');
  if (logText !== undefined) throw invalidField('/logText', 'does not go with limitPerStatus');
  const page = { limit: limitPerStatus, before: null };
  const pages = await Promise.all(
    (filter.statuses ?? jobStatuses).map((status) =>
      listJobIds(reader, workspaceId, { ...filter, statuses: [status] }, page),
    ),
  );
  const ids = new Set(pages.flatMap((each) => each.ids));
  return { ids: [...ids].sort().reverse(), before: null };
}

/**
 * Jobs by their ids, in no particular order, as the view asks for them.
 *
 * @param pending gets what explains why those wait that are pending.
 */
async function readListed(
  reader: Reader,
  { workspaceId, view, fields }: ListInput,
  ids: readonly string[],
  pending: PendingRow[],
): Promise<ListedJob[]> {
  const wholeFields = fields.filter((field) => field !== 'waitingReason');
  if (view === 'summary' && wholeFields.length === 0) {
    const rows = await readJobSummaries(reader, workspaceId, ids);
    pending.push(...rows.filter(({ status }) => status === 'pending'));
    return rows.map(presentSummary);
  }
  const whole = await readWholeJobs(reader, workspaceId, ids);
  if (view === 'whole') return whole.map((job) => presentJob(job, job));
  pending.push(...whole.filter(({ status }) => status === 'pending'));
  return whole.map((row) => {
    const job = presentJob(row, row);
    const added = Object.fromEntries(wholeFields.map((field) => [field, job[field]]));
    return { ...presentSummary({ ...row, beginning: row.prompt }), ...added };
  });
}

/** Counts jobs by status. @throws HubError INVALID_REQUEST */
export function countJobsByStatus(
  { database: { reader } }: HubDeps,
  principal: Principal,
  input: CountInput,
): Promise<{ counts: JobCounts; capped: JobStatus[] }> {
  return countJobs(reader, input.workspaceId, filterOf(principal, input));
}

function filterOf(
  { principalId }: Principal,
  { kind, repoId, runId, agentId, mine, fromAt, untilAt, workEnded }: CountInput,
) {
  return {
    kind,
    repoId,
    runId,
    agentId,
    workEnded,
    createdBy: mine === true ? principalId : undefined,
    fromMs: fromAt === undefined ? undefined : readTimestamp('/fromAt', fromAt),
    untilMs: untilAt === undefined ? undefined : readTimestamp('/untilAt', untilAt),
  };
}

/** The job that a request names. */
interface JobRef {
  workspaceId: string;
  jobId: string;
}

/**
 * Returns a job, its position in the queue, and what it waits for.
 *
 * @throws HubError JOB_NOT_FOUND
 */
export async function getJob(deps: HubDeps, { workspaceId, jobId }: JobRef): Promise<JobView> {
  const job = await readWholeJob(deps.database.reader, workspaceId, jobId);
  if (job === undefined) throw new HubError('JOB_NOT_FOUND');
  return viewJob(deps, { entry: job, row: job });
}

/**
 * Returns a job to the tool that runs it, which delivers the decisions to the job.
 *
 * @throws HubError JOB_NOT_FOUND
 */
export async function deliverJob(deps: HubDeps, { workspaceId, jobId }: JobRef): Promise<JobView> {
  const record = await deps.database.write(workspaceId, async (tx) => {
    const read = await requireJob(tx, workspaceId, jobId);
    if (read.row.decisions !== '[]') {
      await runHooks(deps.hooks.onDecisionsDelivered, deps, tx, { workspaceId, jobId });
    }
    return read;
  });
  return viewJob(deps, record);
}

async function viewJob(deps: HubDeps, record: JobRecord): Promise<JobView> {
  const { entry, row } = record;
  let queuePosition: number | null = null;
  if (entry.hold === 'ready') {
    const { workspace_id: workspaceId, queue, entry_id: entryId, sort_key: sortKey } = entry;
    const place = { workspaceId, queue, repoId: row.repo_id, sortKey, entryId };
    const ahead = await countReadyBefore(deps.database.reader, place, POSITION_MAX);
    queuePosition = ahead < POSITION_MAX ? ahead + 1 : null;
  }
  return {
    job: presentJob(entry, row),
    queuePosition,
    waitingFor: await explainWaiting(deps, record, queuePosition),
    ...(await roundsOf(deps, record)),
    ...(await workOf(deps, record)),
    ...(await changesPlaceOf(deps, record)),
    ...(await reviewsOf(deps, record)),
    ...(row.variant_of !== null && {
      variants: await listVariants(deps.database.reader, row.workspace_id, row.variant_of),
    }),
    ...(row.message_count > 0 && {
      messages: (await listMessages(deps.database.reader, row.workspace_id, row.job_id)).map(
        presentMessage,
      ),
    }),
    ...takesMessages(entry, row),
    ...(entry.attempt > 1 && {
      attempts: await listAttempts(deps.database.reader, row.workspace_id, row.job_id),
    }),
  };
}

/** The rounds of the work of a job, oldest first; none unless there are several. */
async function roundsOf({ database: { reader } }: HubDeps, { row }: JobRecord) {
  const { workspace_id: workspaceId, work_job_id: workJobId, job_id: jobId } = row;
  const rows = await readRounds(reader, workspaceId, workJobId ?? jobId, ROUNDS_LISTED_MAX);
  if (rows.length < 2 && row.round === 1) return {};
  const rounds = rows
    .map(({ job_id, round, status }): JobRound => ({ jobId: job_id, round, status }))
    .toReversed();
  return { rounds };
}

async function workOf(deps: HubDeps, { row }: JobRecord): Promise<{ work?: Work }> {
  const record = await readWork(deps, deps.database.reader, row);
  return record === null ? {} : { work: record.work };
}

/** The jobs that review the work of a job with a commit. */
async function reviewsOf({ database: { reader } }: HubDeps, { row }: JobRecord) {
  if (commitOf(row) === null) return {};
  const { workspace_id: workspaceId, work_job_id, job_id } = row;
  const workJobId = work_job_id ?? job_id;
  const rows = await listReviews(reader, workspaceId, workJobId, REVIEWS_LISTED_MAX);
  const reviews = rows.map(({ job_id: jobId, status }): JobReview => ({ jobId, status }));
  return reviews.length === 0 ? {} : { reviews };
}

/** Where the commit of a job is that has ended. */
async function changesPlaceOf({ database, clock }: HubDeps, { entry, row }: JobRecord) {
  const { workspace_id: workspaceId, job_id: jobId, repo_id: repoId } = row;
  if (hasNotEnded(entry.status) || commitOf(row) === null) return {};
  const ended = { workspaceId, jobId, repoId, agentId: entry.agent_id };
  const place = await findChangesPlace(database.reader, ended);
  return place === null ? {} : { changesPlace: presentPlace(place, clock.nowMs()) };
}

/**
 * Lists a page of a job's timeline, in order: the events after `after`, or the last ones. Long ones
 * end the page before its limit.
 *
 * @throws HubError JOB_NOT_FOUND
 */
export async function listJobEvents(
  { database: { reader } }: HubDeps,
  { workspaceId, jobId, after, limit }: RequestInput<typeof endpoints.jobEvents.listForJob.request>,
): Promise<JobEvent[]> {
  const createdBy = await readCreator(reader, workspaceId, jobId);
  if (createdBy === null) throw new HubError('JOB_NOT_FOUND');
  // In pieces, since a thousand events may be hundreds of megabytes.
  const rows: JobEventRow[] = [];
  const pieces = new PieceSizes(limit);
  while (rows.length < limit && !pieces.areFull) {
    const count = pieces.next();
    const last = rows.at(-1)?.seq;
    const piece = await (after === undefined
      ? listLastEvents(reader, workspaceId, jobId, { before: last, limit: count })
      : listEvents(reader, workspaceId, jobId, { after: last ?? after, limit: count }));
    for (const row of piece) {
      rows.push(row);
      pieces.add(row);
    }
    if (piece.length < count) break;
  }
  const ordered = after === undefined ? rows.reverse() : rows;
  return ordered.map((row) => presentJobEvent(row, { job_id: jobId, created_by: createdBy }));
}
