import { type JobStatus, jobStatuses } from '@signalbox/contract';
import type { Reader, SqlValue } from '../db/engine.ts';
import { listLaneIds } from '../queue/store-lanes.ts';

/*
 * Lists of jobs, newest first: ids rise with time. Every list is read from the end of one index, or
 * of several that are merged, for any filter and any number of jobs.
 *
 * Indexes answer any combination of status, kind and repository; a lane is one repository and one
 * kind. Other combinations (a run or an agent together with another filter) examine a bounded
 * number of jobs a page, so a page may have fewer jobs than its limit, or none, although more
 * follow.
 */

export interface JobFilter {
  status?: JobStatus | undefined;
  kind?: string | undefined;
  repoId?: string | undefined;
  runId?: string | undefined;
  agentId?: string | undefined;
}

export interface JobIdPage {
  ids: string[];
  /** The id before which the next page starts; null at the end. */
  before: string | null;
}

/** Jobs examined for one page: a few milliseconds. */
const CANDIDATES_MAX = 1_000;
/** Indexes merged for one page; above that, one index is read and the other filters applied. */
const STREAMS_MAX = 100;
/** Sorts after every id of a job. */
const ID_END = 'job`';
const ID_BEGIN = 'job_';

/** Statuses of entries that have `finished_at`. */
const endedStatuses = ['done', 'failed', 'blocked', 'canceled'] as const;

/** One index of `queue_entries` or `jobs` that yields ids in order. */
interface Stream {
  table: 'queue_entries' | 'jobs';
  where: string;
  values: readonly SqlValue[];
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
  const { streams, rest } = await planList(reader, workspaceId, filter);
  if (streams.length === 0) return { ids: [], before: null };
  const before = page.before ?? ID_END;
  if (rest === null) {
    const ids = await readStreams(reader, streams, before, page.limit + 1);
    return cutPage(ids, page.limit);
  }
  const { text, values } = mergeStreams(streams, before, CANDIDATES_MAX);
  const rows = await reader.allSql<{ id: string }>(
    `SELECT c.id AS id FROM (${text}) c
     JOIN queue_entries e ON e.workspace_id = ? AND e.entry_id = c.id
     WHERE ${rest.where} ORDER BY c.id DESC LIMIT ?`,
    [...values, workspaceId, ...rest.values, page.limit + 1],
  );
  const found = cutPage(
    rows.map(({ id }) => id),
    page.limit,
  );
  if (found.before !== null) return found;
  const looked = await readStreams(reader, streams, before, CANDIDATES_MAX);
  const last = looked.length < CANDIDATES_MAX ? null : (looked.at(-1) ?? null);
  return { ids: found.ids, before: last };
}

function cutPage(ids: string[], limit: number): JobIdPage {
  const cut = ids.slice(0, limit);
  return { ids: cut, before: ids.length > limit ? (cut.at(-1) ?? null) : null };
}

/** Chooses the indexes that a list is read from. */
async function planList(reader: Reader, workspaceId: string, filter: JobFilter): Promise<Plan> {
  const { status, kind, repoId, runId, agentId } = filter;
  const inWorkspace = (table: Stream['table'], where: string, ...values: SqlValue[]): Stream => ({
    table,
    where: `workspace_id = ?${where}`,
    values: [workspaceId, ...values],
  });
  const byLane = kind !== undefined || repoId !== undefined;
  const laneIds = byLane ? await listLaneIds(reader, workspaceId, 'jobs', { kind, repoId }) : null;
  // Each job has a lane.
  if (laneIds?.length === 0) return { streams: [], rest: null };
  if (runId !== undefined) {
    const streams = [inWorkspace('jobs', ' AND run_id = ?', runId)];
    return { streams, rest: restOf({ status, agentId, laneIds }) };
  }
  if (agentId !== undefined) {
    const streams = statusesOf(status).map((each) =>
      inWorkspace('queue_entries', ` AND agent_id = ?${conditionOf(each)}`, agentId),
    );
    return { streams, rest: restOf({ laneIds }) };
  }
  if (laneIds === null) {
    return status === undefined
      ? { streams: [inWorkspace('jobs', '')], rest: null }
      : {
          streams: [inWorkspace('queue_entries', ` AND queue = 'jobs' AND status = ?`, status)],
          rest: null,
        };
  }
  if (status === undefined && kind === undefined) {
    return { streams: [inWorkspace('jobs', ' AND repo_id = ?', repoId ?? '')], rest: null };
  }
  if (status === undefined && repoId === undefined) {
    return { streams: [inWorkspace('jobs', ' AND kind = ?', kind ?? '')], rest: null };
  }
  return planLanes(inWorkspace, laneIds, status);
}

function planLanes(
  inWorkspace: (table: Stream['table'], where: string, ...values: SqlValue[]) => Stream,
  laneIds: readonly string[],
  status: JobStatus | undefined,
): Plan {
  const statuses = statusesOf(status);
  // Few jobs run, and no index has running ones by lane.
  if (status === 'running' || laneIds.length * statuses.length > STREAMS_MAX) {
    const streams = statuses.map((each) =>
      inWorkspace('queue_entries', ` AND queue = 'jobs' AND status = ?`, each),
    );
    return { streams, rest: restOf({ laneIds }) };
  }
  const streams = statuses
    .filter((each) => each !== 'running')
    .flatMap((each) =>
      laneIds.map((laneId) =>
        inWorkspace('queue_entries', ` AND lane_id = ?${conditionOf(each)}`, laneId),
      ),
    );
  if (status !== undefined) return { streams, rest: null };
  const running = inWorkspace(
    'queue_entries',
    ` AND queue = 'jobs' AND status = 'running'
      AND lane_id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(laneIds),
  );
  return { streams: [...streams, running], rest: null };
}

function statusesOf(status: JobStatus | undefined): readonly JobStatus[] {
  return status === undefined ? jobStatuses : [status];
}

/** The condition in the words of the partial indexes, by which planners recognize them. */
function conditionOf(status: JobStatus): string {
  return endedStatuses.some((ended) => ended === status)
    ? ` AND finished_at IS NOT NULL AND status = '${status}'`
    : ` AND status = '${status}'`;
}

function restOf(rest: {
  status?: JobStatus | undefined;
  agentId?: string | undefined;
  laneIds: readonly string[] | null;
}): Plan['rest'] {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const narrow = (condition: string, ...more: SqlValue[]) => {
    conditions.push(condition);
    values.push(...more);
  };
  if (rest.status !== undefined) narrow('e.status = ?', rest.status);
  if (rest.agentId !== undefined) narrow('e.agent_id = ?', rest.agentId);
  if (rest.laneIds !== null) {
    const list = JSON.stringify(rest.laneIds);
    narrow('e.lane_id IN (SELECT value FROM json_each(?))', list);
  }
  return conditions.length === 0 ? null : { where: conditions.join(' AND '), values };
}

/** One statement that reads the ids of all streams, newest first. */
function mergeStreams(
  streams: readonly Stream[],
  before: string,
  limit: number,
): { text: string; values: SqlValue[] } {
  const parts = streams.map(({ table, where }) => {
    const id = table === 'jobs' ? 'job_id' : 'entry_id';
    const select = `SELECT ${id} AS id FROM ${table}
      WHERE ${where} AND ${id} > '${ID_BEGIN}' AND ${id} < ? ORDER BY ${id} DESC LIMIT ?`;
    return `SELECT id FROM (${select}) s`;
  });
  const values = streams.flatMap((stream) => [...stream.values, before, limit]);
  return {
    text: `${parts.join(' UNION ALL ')} ORDER BY id DESC LIMIT ?`,
    values: [...values, limit],
  };
}

async function readStreams(
  reader: Reader,
  streams: readonly Stream[],
  before: string,
  limit: number,
): Promise<string[]> {
  const { text, values } = mergeStreams(streams, before, limit);
  const rows = await reader.allSql<{ id: string }>(text, values);
  return rows.map(({ id }) => id);
}
