import { setImmediate as nextTurn } from 'node:timers/promises';
import { firstIdSince } from '@signalbox/contract';
import { deletePatchRequests } from '../agents/store-patch-requests.ts';
import { deleteCloudAiJobs } from '../cloud-ai-jobs/store.ts';
import type { Reader, Tx } from '../db/engine.ts';
import type { QueueName } from '../db/schema/queue.ts';
import { IDEMPOTENCY_KEPT_MS } from '../idempotency/answer-once.ts';
import { deleteJobs, readDependsOn } from '../jobs/store.ts';
import { deleteFirstEvents, deleteTimelines, readLastSeqs } from '../jobs/store-events.ts';
import { deleteJobLogs } from '../jobs/store-log.ts';
import { deleteWorks } from '../jobs/store-works.ts';
import { deleteDependencies } from '../queue/store-dependents.ts';
import {
  deleteEmptyLanes,
  listIdleLanes,
  listUnusedLaneWorkspaces,
  makeLanesIdle,
} from '../queue/store-lanes.ts';
import {
  deleteEntries,
  type EndedStatus,
  endedStatuses,
  type FinishedState,
  listEnded,
  listFinishedStates,
} from '../queue/store-retention.ts';
import { deleteComments } from '../review/store.ts';
import { type HookDeps, runHooks } from '../start/hooks.ts';
import { deleteAttachments } from '../uploads/store.ts';
import { listRetainingWorkspaces } from '../workspaces/store.ts';
import { type ArchiveDeps, archiveEntries } from './archive-jobs.ts';
import { deleteRemovals, hasRemovals, listRemovals, type Removal } from './store.ts';
import { deletePart, listAbandonedParts } from './store-parts.ts';

/*
 * Retention of jobs and cloud AI jobs. Jobs that ended longer ago than their workspace's retention
 * are archived, and then deleted with their timelines in small transactions. The transaction that
 * seals an archive file schedules its jobs for deletion in their state at that time; jobs that have
 * changed since stay. So a crash loses nothing and repeats nothing.
 */

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Idle lanes examined without a pause: a few milliseconds. */
const LANES_EXAMINED_MAX = 500;
/** Jobs examined, and archived together at most. */
const SCANNED_MAX = 500;
/** Jobs, and events, that one transaction deletes: a few milliseconds of the writer. */
const REMOVALS_MAX = 50;
const EVENTS_MAX = 1_000;
/** When an unsealed file counts as abandoned: writing a file never takes so long. */
const ABANDONED_AFTER_MS = 60 * 60 * 1_000;
const ABANDONED_MAX = 100;
const LANE_KEPT_MS = DAY_MS;

/** Queue and status, in the order in which they are scanned. */
const scans = (['jobs', 'cloud-ai-jobs'] as const).flatMap((queue) =>
  endedStatuses.map((status) => ({ queue, status })),
);

/** How far each workspace has been scanned since the last pause. */
export type ScanPlaces = Map<string, { scan: number; afterId: string }>;

export interface JobRetentionResult {
  /** Archived, or only scheduled for deletion if there is no archive. */
  archived: number;
  /** Deleted from the database. */
  removed: number;
  hasMore: boolean;
}

/** Does a bounded piece of retention for each workspace that has one. */
export async function retireEndedJobs(
  deps: ArchiveDeps,
  places: ScanPlaces,
): Promise<JobRetentionResult> {
  const total: JobRetentionResult = { archived: 0, removed: 0, hasMore: false };
  const { reader } = deps.database;
  for (const { workspaceId, retentionDays } of await listRetainingWorkspaces(reader)) {
    if (await hasRemovals(reader, workspaceId)) {
      total.removed += await deps.database.write(workspaceId, (tx) =>
        removePiece(deps, tx, workspaceId),
      );
      total.hasMore = true;
      continue;
    }
    // A job outlives its idempotency key, so that the key never creates a second job.
    const keptMs = Math.max(retentionDays * DAY_MS, IDEMPOTENCY_KEPT_MS);
    const beforeMs = deps.clock.nowMs() - keptMs;
    const { months, isEnd } = await scanPiece(reader, places, workspaceId, beforeMs);
    for (const [month, entryIds] of months) {
      total.archived += await archiveEntries(deps, { workspaceId, month }, entryIds);
    }
    total.hasMore ||= !isEnd || months.size > 0;
  }
  await deleteAbandonedParts(deps);
  if (!total.hasMore) await retireLanes(deps);
  return total;
}

/**
 * Makes lanes idle that have had no pending or running entry for a day, since every claim looks at
 * active ones, and deletes idle lanes without entries. A lane that is used again becomes active.
 */
async function retireLanes({ database, clock }: ArchiveDeps): Promise<void> {
  const beforeMs = clock.nowMs() - LANE_KEPT_MS;
  for (const workspace_id of await listUnusedLaneWorkspaces(database.reader, beforeMs)) {
    await database.write(workspace_id, (tx) => makeLanesIdle(tx, { workspace_id }, beforeMs));
  }
  let after = { workspace_id: '', lane_id: '' };
  for (;;) {
    const lanes = await listIdleLanes(database.reader, after, LANES_EXAMINED_MAX);
    const empty = lanes.filter((lane) => lane.has_entry === 0);
    for (const [workspaceId, own] of Map.groupBy(empty, (lane) => lane.workspace_id)) {
      const laneIds = own.map((lane) => lane.lane_id);
      await database.write(workspaceId, (tx) => deleteEmptyLanes(tx, workspaceId, laneIds));
    }
    const last = lanes.at(-1);
    if (last === undefined || lanes.length < LANES_EXAMINED_MAX) return;
    after = last;
    await nextTurn();
  }
}

/** Scans the next ended entries: those to retire, by the month in which they ended. */
async function scanPiece(
  reader: Reader,
  places: ScanPlaces,
  workspaceId: string,
  beforeMs: number,
): Promise<{ months: Map<string, string[]>; isEnd: boolean }> {
  const place = places.get(workspaceId) ?? { scan: 0, afterId: '' };
  const scan = scans[place.scan] as { queue: QueueName; status: EndedStatus };
  const ended = await listEnded(
    reader,
    { workspaceId, ...scan },
    // Ids begin with the time of creation, so later ids cannot have ended before.
    {
      afterId: place.afterId,
      untilId: firstIdSince(kindOf(scan.queue), beforeMs),
      limit: SCANNED_MAX,
    },
  );
  const months = new Map<string, string[]>();
  for (const { entry_id, finished_at, is_needed } of ended) {
    if (finished_at >= beforeMs || is_needed === 1) continue;
    const month = new Date(finished_at).toISOString().slice(0, 'YYYY-MM'.length);
    months.set(month, [...(months.get(month) ?? []), entry_id]);
  }
  const last = ended.at(-1);
  const isFull = ended.length === SCANNED_MAX && last !== undefined;
  const next = isFull
    ? { ...place, afterId: last.entry_id }
    : { scan: place.scan + 1, afterId: '' };
  const isEnd = next.scan === scans.length;
  if (isEnd) places.delete(workspaceId);
  else places.set(workspaceId, next);
  return { months, isEnd };
}

function kindOf(queue: QueueName): 'job' | 'cloudAiJob' {
  return queue === 'jobs' ? 'job' : 'cloudAiJob';
}

/** Deletes a batch of scheduled entries. @returns how many entries. */
async function removePiece(deps: HookDeps, tx: Tx, workspaceId: string): Promise<number> {
  const removals = await listRemovals(tx, workspaceId, REMOVALS_MAX);
  const ids = idsOf(removals);
  const states = new Map(
    (await listFinishedStates(tx, workspaceId, ids)).map((state) => [state.entry_id, state]),
  );
  const lastSeqs = await readLastSeqs(tx, workspaceId, ids);
  const changed: Removal[] = [];
  const deletable: Removal[] = [];
  let events = 0;
  for (const removal of removals) {
    const { entry_id: id } = removal;
    if (hasChanged(removal, states.get(id), lastSeqs.get(id) ?? 0)) {
      changed.push(removal);
      continue;
    }
    if (deletable.length > 0 && events + removal.last_seq > EVENTS_MAX) break;
    events += removal.last_seq;
    deletable.push(removal);
  }
  const deletableIds = idsOf(deletable);
  for (const { queue, entry_id: jobId } of deletable) {
    if (queue === 'jobs') await runHooks(deps.hooks.onJobEnded, deps, tx, { workspaceId, jobId });
  }
  for (const [entryId, dependsOn] of await readDependsOn(tx, workspaceId, deletableIds)) {
    if (dependsOn === '[]') continue;
    await deleteDependencies(tx, workspaceId, entryId, JSON.parse(dependsOn) as string[]);
  }
  await deleteEntries(tx, workspaceId, deletableIds);
  await deleteJobLogs(tx, workspaceId, deletableIds);
  await deleteComments(tx, workspaceId, deletableIds);
  await deletePatchRequests(tx, workspaceId, deletableIds);
  await deleteWorks(tx, workspaceId, deletableIds);
  await deleteAttachments(tx, workspaceId, deletableIds);
  await deleteCloudAiJobs(tx, workspaceId, deletableIds);
  const isComplete = await deleteEvents(tx, workspaceId, deletable);
  // Events refer to the row of their job, so it is the last to go.
  if (isComplete) await deleteJobs(tx, workspaceId, deletableIds);
  const finishedIds = [...idsOf(changed), ...(isComplete ? deletableIds : [])];
  await deleteRemovals(tx, workspaceId, finishedIds);
  return deletableIds.filter((id) => states.has(id)).length;
}

function idsOf(removals: readonly Removal[]): string[] {
  return removals.map(({ entry_id }) => entry_id);
}

/**
 * Whether an entry must stay: it was retried, is needed again, or has late evidence.
 *
 * @param state undefined: the entry is deleted and only events are left.
 */
function hasChanged(removal: Removal, state: FinishedState | undefined, lastSeq: number): boolean {
  if (state === undefined) return false;
  return (
    state.finished_at !== removal.finished_at ||
    lastSeq !== removal.last_seq ||
    state.is_needed === 1
  );
}

/**
 * Deletes timelines. A long one is deleted in pieces, in transactions of its own.
 *
 * @returns whether no events are left.
 */
async function deleteEvents(
  tx: Tx,
  workspaceId: string,
  removals: readonly Removal[],
): Promise<boolean> {
  const [first] = removals;
  if (first === undefined || first.last_seq <= EVENTS_MAX) {
    await deleteTimelines(tx, workspaceId, idsOf(removals));
    return true;
  }
  const deleted = await deleteFirstEvents(tx, workspaceId, first.entry_id, EVENTS_MAX);
  return deleted < EVENTS_MAX;
}

/** Deletes files that a crash left unsealed. Their jobs are still in the database. */
async function deleteAbandonedParts({ database, clock, archive }: ArchiveDeps): Promise<void> {
  if (archive === null) return;
  const createdAtMs = clock.nowMs() - ABANDONED_AFTER_MS;
  const parts = await listAbandonedParts(database.reader, { createdAtMs, limit: ABANDONED_MAX });
  for (const part of parts) {
    // Bytes first: after a crash in between, the registration remains and the next run repeats.
    await archive.delete(part.object_key);
    await database.write(part.workspace_id, (tx) => deletePart(tx, part));
  }
}
