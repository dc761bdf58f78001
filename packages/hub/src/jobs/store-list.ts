import { setImmediate as nextTurn } from 'node:timers/promises';
import { firstIdSince, JOB_COUNT_MAX, type JobStatus, jobStatuses } from '@signalbox/contract';
import type { Reader, SqlValue } from '../db/engine.ts';
import { type LaneFilter, laneCondition, listLaneIds } from '../queue/store-lanes.ts';
import { titleOf } from './title.ts';

/*
 * Lists of jobs, newest first: ids rise with time. Every list is read from the end of one index, or
 * of several that are merged, for any filter and any number of jobs.
 *
 * Indexes answer any combination of statuses, kind and repository; a lane is one repository and one
 * kind. Other filters (a time, a text, the end of the work; a run, an agent or a creator together
 * with another filter) examine a bounded number of jobs a page, so a page may have fewer jobs than
 * its limit, or none, although more follow.
 */

export interface JobFilter {
  /** Null: any. */
  statuses: readonly JobStatus[] | null;
  kind?: string | undefined;
  repoId?: string | undefined;
  runId?: string | undefined;
  agentId?: string | undefined;
  /** The principal that enqueued the jobs. */
  createdBy?: string | undefined;
  fromMs?: number | undefined;
  untilMs?: number | undefined;
  /** Whether their piece of work has landed or was closed. */
  workEnded?: boolean | undefined;
  /** Part of the title, the id, the prompt or the result, in any case. */
  text?: string | undefined;
}

export interface JobIdPage {
  ids: string[];
  /** The id before which the next page starts; null at the end. */
  before: string | null;
}

/** Jobs examined for one page: a few milliseconds. */
const CANDIDATES_MAX = 1_000;
/** Of a prompt and of a result. */
const SEARCHED_CHARS = 4_000;
/** Jobs whose texts are searched in one turn of the event loop: a few milliseconds. */
const SEARCHED_AT_ONCE = 100;
/** Indexes merged for one page; above that, one index is read and the other filters applied. */
const STREAMS_MAX = 100;
/** Sorts after every id of a job. */
const ID_END = 'job`';
const ID_BEGIN = 'job_';
/** An id has the time of its hub's clock, and a job that of the database. */
const CLOCK_SLACK_MS = 60_000;

/** Statuses of entries that have `finished_at`. */
const endedStatuses = ['done', 'failed', 'blocked', 'canceled'] as const;

/** One index of `queue_entries` or `jobs` that yields ids in order. */
interface Stream {
  table: 'queue_entries' | 'jobs';
  where: string;
  values: readonly SqlValue[];
}

/** The ids that a stream is read between. */
interface Bounds {
  after: string;
  before: string;
}

interface Plan {
  streams: readonly Stream[];
  /** Conditions on the entry that the streams do not answer. */
  rest: { where: string; values: readonly SqlValue[] } | null;
}

/** A page of the ids of jobs, newest first. */
export async function listJobIds(
  reader: Reader,
  workspaceId: string,
  filter: JobFilter,
  page: { limit: number; before: string | null },
): Promise<JobIdPage> {
  const { streams, rest } = planList(
    workspaceId,
    filter,
    await findLanes(reader, workspaceId, filter),
  );
  if (streams.length === 0) return { ids: [], before: null };
  const bounds = boundsOf(filter, page.before);
  if (rest === null && filter.text === undefined) {
    const ids = await readStreams(reader, streams, bounds, page.limit + 1);
    return cutPage(ids, page.limit);
  }
  const matching =
    filter.text === undefined
      ? await readMatching(reader, workspaceId, { streams, rest }, bounds, page.limit + 1)
      : await searchTexts(reader, workspaceId, { streams, rest }, bounds, filter.text);
  const found = cutPage(matching, page.limit);
  if (found.before !== null) return found;
  const looked = await readStreams(reader, streams, bounds, CANDIDATES_MAX);
  const last = looked.length < CANDIDATES_MAX ? null : (looked.at(-1) ?? null);
  return { ids: found.ids, before: last };
}

/** Counts the jobs of each status, of each at most JOB_COUNT_MAX. */
export async function countJobs(
  reader: Reader,
  workspaceId: string,
  filter: Omit<JobFilter, 'statuses' | 'text'>,
): Promise<{ counts: Record<JobStatus, number>; capped: JobStatus[] }> {
  const laneIds = await findLanes(reader, workspaceId, filter);
  const bounds = boundsOf(filter, null);
  const counted = await Promise.all(
    jobStatuses.map(async (status) => {
      const plan = planList(workspaceId, { ...filter, statuses: [status] }, laneIds);
      return { status, ...(await countPlan(reader, workspaceId, plan, bounds)) };
    }),
  );
  return {
    // Made from the list of all statuses, which Object.fromEntries forgets.
    counts: Object.fromEntries(counted.map(({ status, count }) => [status, count])) as Record<
      JobStatus,
      number
    >,
    capped: counted.filter(({ isCapped }) => isCapped).map(({ status }) => status),
  };
}

async function countPlan(
  reader: Reader,
  workspaceId: string,
  { streams, rest }: Plan,
  bounds: Bounds,
): Promise<{ count: number; isCapped: boolean }> {
  if (streams.length === 0) return { count: 0, isCapped: false };
  if (rest === null) {
    const { text, values } = mergeStreams(streams, bounds, JOB_COUNT_MAX, '');
    const row = await reader.firstSql<{ n: number }>(
      `SELECT COUNT(*) AS n FROM (${text}) c`,
      values,
    );
    const count = row?.n ?? 0;
    return { count, isCapped: count === JOB_COUNT_MAX };
  }
  const { text, values } = mergeStreams(streams, bounds, CANDIDATES_MAX);
  const row = await reader.firstSql<{ looked: number; n: number | null }>(
    `SELECT COUNT(*) AS looked, SUM(CASE WHEN ${rest.where} THEN 1 ELSE 0 END) AS n
     FROM (${text}) c JOIN queue_entries e ON e.workspace_id = ? AND e.entry_id = c.id`,
    [...rest.values, ...values, workspaceId],
  );
  return { count: row?.n ?? 0, isCapped: row?.looked === CANDIDATES_MAX };
}

/** The ids of the candidates that match all conditions, at most `limit`. */
async function readMatching(
  reader: Reader,
  workspaceId: string,
  { streams, rest }: Plan,
  bounds: Bounds,
  limit: number,
): Promise<string[]> {
  const { text, values } = mergeStreams(streams, bounds, CANDIDATES_MAX);
  const rows = await reader.allSql<{ id: string }>(
    `SELECT c.id AS id FROM (${text}) c
     JOIN queue_entries e ON e.workspace_id = ? AND e.entry_id = c.id
     WHERE ${rest?.where ?? 'TRUE'} ORDER BY c.id DESC LIMIT ?`,
    [...values, workspaceId, ...(rest?.values ?? []), limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * The ids of the matching candidates whose title, id, prompt or result contains a text. Compared
 * here, because the engines disagree on the case of letters beyond ASCII.
 */
async function searchTexts(
  reader: Reader,
  workspaceId: string,
  plan: Plan,
  bounds: Bounds,
  text: string,
): Promise<string[]> {
  const ids = await readMatching(reader, workspaceId, plan, bounds, CANDIDATES_MAX);
  const wanted = text.toLowerCase();
  const found: string[] = [];
  for (let at = 0; at < ids.length; at += SEARCHED_AT_ONCE) {
    // Other requests have their turn in between.
    if (at > 0) await nextTurn();
    const part = ids.slice(at, at + SEARCHED_AT_ONCE);
    const rows = await reader.allSql<{ id: string; prompt: string; message: string | null }>(
      `SELECT job_id AS id, substr(prompt, 1, ${SEARCHED_CHARS}) AS prompt,
         substr(message, 1, ${SEARCHED_CHARS}) AS message
       FROM jobs WHERE workspace_id = ? AND job_id IN (SELECT value FROM json_each(?))`,
      [workspaceId, JSON.stringify(part)],
    );
    const matches = new Set(rows.filter((row) => hasText(row, wanted)).map(({ id }) => id));
    found.push(...part.filter((id) => matches.has(id)));
  }
  return found;
}

/** Also in the title: the beginning of the prompt without runs of spaces and control characters. */
function hasText(
  { id, prompt, message }: { id: string; prompt: string; message: string | null },
  wanted: string,
): boolean {
  const parts = [prompt, message ?? '', titleOf(prompt)];
  return id.includes(wanted) || parts.some((part) => part.toLowerCase().includes(wanted));
}

function cutPage(ids: string[], limit: number): JobIdPage {
  const cut = ids.slice(0, limit);
  return { ids: cut, before: ids.length > limit ? (cut.at(-1) ?? null) : null };
}

/** An id begins with its time, so a range of time is a range of ids, but for the clocks. */
function boundsOf(
  { fromMs, untilMs }: Pick<JobFilter, 'fromMs' | 'untilMs'>,
  before: string | null,
): Bounds {
  const end = untilMs === undefined ? ID_END : firstIdSince('job', untilMs + CLOCK_SLACK_MS);
  return {
    after: fromMs === undefined ? ID_BEGIN : firstIdSince('job', fromMs - CLOCK_SLACK_MS),
    before: before === null || before > end ? end : before,
  };
}

/** The lanes that the filters name, at most one more than are read as streams; null: none named. */
async function findLanes(
  reader: Reader,
  workspaceId: string,
  { kind, repoId }: Pick<JobFilter, 'kind' | 'repoId'>,
): Promise<readonly string[] | null> {
  if (kind === undefined && repoId === undefined) return null;
  return listLaneIds(reader, workspaceId, 'jobs', { kind, repoId }, STREAMS_MAX + 1);
}

/** Filters that no index has in its order. */
type TimeFilter = Pick<JobFilter, 'fromMs' | 'untilMs' | 'workEnded'>;

/** By the words of the partial index, which has nothing else of these long rows. */
const WORK_ENDED = `EXISTS (SELECT 1 FROM jobs AS w WHERE w.workspace_id = e.workspace_id
  AND w.job_id = e.entry_id AND w.work_ended IS NOT NULL)`;

/** Chooses the indexes that a list is read from. */
function planList(workspaceId: string, filter: JobFilter, laneIds: readonly string[] | null): Plan {
  const { statuses, kind, repoId, runId, agentId, createdBy } = filter;
  const inWorkspace = (table: Stream['table'], where: string, ...values: SqlValue[]): Stream => ({
    table,
    where: `workspace_id = ?${where}`,
    values: [workspaceId, ...values],
  });
  // Each job has a lane.
  if (laneIds?.length === 0 || statuses?.length === 0) return { streams: [], rest: null };
  const time = { fromMs: filter.fromMs, untilMs: filter.untilMs, workEnded: filter.workEnded };
  const lanes = laneIds === null ? null : { kind, repoId };
  if (createdBy !== undefined) {
    const ofRun = runId === undefined ? [] : [runId];
    const where = ` AND created_by = ?${runId === undefined ? '' : ' AND run_id = ?'}`;
    const streams = [inWorkspace('jobs', where, createdBy, ...ofRun)];
    return { streams, rest: restOf({ statuses, agentId, lanes, ...time }) };
  }
  if (runId !== undefined) {
    const streams = [inWorkspace('jobs', ' AND run_id = ?', runId)];
    return { streams, rest: restOf({ statuses, agentId, lanes, ...time }) };
  }
  if (agentId !== undefined) {
    const streams = (statuses ?? jobStatuses).map((each) =>
      inWorkspace('queue_entries', ` AND agent_id = ?${conditionOf(each)}`, agentId),
    );
    return { streams, rest: restOf({ lanes, ...time }) };
  }
  const rest = restOf({ lanes: null, ...time });
  if (laneIds === null) {
    const streams = statuses?.map((each) =>
      inWorkspace('queue_entries', ` AND queue = 'jobs' AND status = ?`, each),
    ) ?? [inWorkspace('jobs', '')];
    return { streams, rest };
  }
  if (statuses === null && kind === undefined) {
    return { streams: [inWorkspace('jobs', ' AND repo_id = ?', repoId ?? '')], rest };
  }
  if (statuses === null && repoId === undefined) {
    return { streams: [inWorkspace('jobs', ' AND kind = ?', kind ?? '')], rest };
  }
  return planLanes(inWorkspace, { laneIds, lanes }, statuses ?? jobStatuses, time);
}

function planLanes(
  inWorkspace: (table: Stream['table'], where: string, ...values: SqlValue[]) => Stream,
  { laneIds, lanes }: { laneIds: readonly string[]; lanes: LaneFilter | null },
  statuses: readonly JobStatus[],
  time: TimeFilter,
): Plan {
  const others = statuses.filter((each) => each !== 'running');
  // Few jobs run, and no index has running ones by lane.
  if (others.length === 0 || laneIds.length * statuses.length > STREAMS_MAX) {
    const streams = statuses.map((each) =>
      inWorkspace('queue_entries', ` AND queue = 'jobs' AND status = ?`, each),
    );
    return { streams, rest: restOf({ lanes, ...time }) };
  }
  const streams = others.flatMap((each) =>
    laneIds.map((laneId) =>
      inWorkspace('queue_entries', ` AND lane_id = ?${conditionOf(each)}`, laneId),
    ),
  );
  const rest = restOf({ lanes: null, ...time });
  if (others.length === statuses.length) return { streams, rest };
  const running = inWorkspace(
    'queue_entries',
    ` AND queue = 'jobs' AND status = 'running'
      AND lane_id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(laneIds),
  );
  return { streams: [...streams, running], rest };
}

/** The condition in the words of the partial indexes, by which planners recognize them. */
function conditionOf(status: JobStatus): string {
  return endedStatuses.some((ended) => ended === status)
    ? ` AND finished_at IS NOT NULL AND status = '${status}'`
    : ` AND status = '${status}'`;
}

function restOf(
  rest: Pick<JobFilter, 'agentId'> &
    TimeFilter & {
      statuses?: JobFilter['statuses'];
      lanes: LaneFilter | null;
    },
): Plan['rest'] {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const narrow = (condition: string, ...more: SqlValue[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  const narrowToOneOf = (column: string, list: readonly string[]) =>
    narrow(`e.${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(list));
  if (rest.statuses) narrowToOneOf('status', rest.statuses);
  if (rest.agentId !== undefined) narrow('e.agent_id = ?', rest.agentId);
  if (rest.lanes !== null) {
    const lane = laneCondition(rest.lanes);
    narrow(lane.where, ...lane.values);
  }
  if (rest.fromMs !== undefined) narrow('e.enqueued_at >= ?', rest.fromMs);
  if (rest.untilMs !== undefined) narrow('e.enqueued_at < ?', rest.untilMs);
  if (rest.workEnded !== undefined) narrow(`${rest.workEnded ? '' : 'NOT '}${WORK_ENDED}`);
  return conditions.length === 0 ? null : { where: conditions.join(' AND '), values };
}

/** One statement that reads the ids of all streams, newest first unless `order` is empty. */
function mergeStreams(
  streams: readonly Stream[],
  { after, before }: Bounds,
  limit: number,
  order: '' | 'ORDER BY id DESC ' = 'ORDER BY id DESC ',
): { text: string; values: SqlValue[] } {
  const parts = streams.map(({ table, where }) => {
    const id = table === 'jobs' ? 'job_id' : 'entry_id';
    const select = `SELECT ${id} AS id FROM ${table}
      WHERE ${where} AND ${id} > ? AND ${id} < ? ORDER BY ${id} DESC LIMIT ?`;
    return `SELECT id FROM (${select}) s`;
  });
  const values = streams.flatMap((stream) => [...stream.values, after, before, limit]);
  return { text: `${parts.join(' UNION ALL ')} ${order}LIMIT ?`, values: [...values, limit] };
}

async function readStreams(
  reader: Reader,
  streams: readonly Stream[],
  bounds: Bounds,
  limit: number,
): Promise<string[]> {
  const { text, values } = mergeStreams(streams, bounds, limit);
  const rows = await reader.allSql<{ id: string }>(text, values);
  return rows.map(({ id }) => id);
}
