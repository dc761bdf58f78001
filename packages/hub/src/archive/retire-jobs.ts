import { idPrefixes } from '@signalbox/contract';
import type { Reader, Tx } from '../db/engine.ts';
import type { QueueName } from '../db/schema/tables.ts';
import { IDEMPOTENCY_KEPT_MS } from '../idempotency/answer-once.ts';
import { deleteIdleLanes, listIdleLaneWorkspaces } from '../queue/queue-store.ts';
import { listRetainingWorkspaces } from '../workspaces/store.ts';
import { deletePart, listForgottenParts } from './archive-files.ts';
import { type ArchiveDeps, archiveEntries } from './archive-jobs.ts';
import {
  deleteDependencies,
  deleteEntries,
  deleteFirstEvents,
  deleteRemovals,
  deleteTimelines,
  type EndedStatus,
  endedStatuses,
  hasRemovals,
  listEnded,
  listRemovals,
  type RemovalState,
} from './store.ts';

/*
 * Retention of jobs and cloud AI jobs: what ended longer ago than its workspace keeps things goes
 * into the archive, and then out of the database with its timeline, in pieces that hold nobody up.
 * What is to go is noted in the action that seals its archive file, as it was then; whatever has
 * changed since stays. So a crash loses nothing and repeats nothing.
 */

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Jobs looked at, and archived together at most. */
const SCANNED_MAX = 500;
/** Jobs, and events, that one action takes away: a few milliseconds of the writer. */
const REMOVALS_MAX = 50;
const EVENTS_MAX = 1_000;
/** Longer than the writing of any file. */
const FORGOTTEN_AFTER_MS = 60 * 60 * 1_000;
const FORGOTTEN_MAX = 100;
const LANE_KEPT_MS = DAY_MS;

/** Queue and status, in the order in which they are looked through. */
const scans = (['jobs', 'cloud-ai-jobs'] as const).flatMap((queue) =>
  endedStatuses.map((status) => ({ queue, status })),
);

/** How far each workspace has been looked through since the last pause. */
export type ScanPlaces = Map<string, { scan: number; afterId: string }>;

export interface JobRetentionResult {
  /** Into the archive, or noted for removal where there is none. */
  archived: number;
  /** Out of the database. */
  removed: number;
  hasMore: boolean;
}

/** A piece of the retention of each workspace that has one. */
export async function retireEndedJobs(
  deps: ArchiveDeps,
  places: ScanPlaces,
): Promise<JobRetentionResult> {
  const total: JobRetentionResult = { archived: 0, removed: 0, hasMore: false };
  const { reader } = deps.database;
  for (const { workspaceId, retentionDays } of await listRetainingWorkspaces(reader)) {
    if (await hasRemovals(reader, workspaceId)) {
      total.removed += await deps.database.write(workspaceId, (tx) => removePiece(tx, workspaceId));
      total.hasMore = true;
      continue;
    }
    // A job outlives its idempotency key, so that the key goes on meaning this job.
    const keptMs = Math.max(retentionDays * DAY_MS, IDEMPOTENCY_KEPT_MS);
    const beforeMs = deps.clock.nowMs() - keptMs;
    const { months, isEnd } = await scanPiece(reader, places, workspaceId, beforeMs);
    for (const [month, entryIds] of months) {
      total.archived += await archiveEntries(deps, { workspaceId, month }, entryIds);
    }
    total.hasMore ||= !isEnd || months.size > 0;
  }
  await clearForgottenParts(deps);
  if (!total.hasMore) await retireIdleLanes(deps);
  return total;
}

/**
 * Takes away lanes without entries, which every claim would look at. No hub takes a lane to be
 * there that was not written for as long as this.
 */
async function retireIdleLanes({ database, clock }: ArchiveDeps): Promise<void> {
  const beforeMs = clock.nowMs() - LANE_KEPT_MS;
  for (const workspaceId of await listIdleLaneWorkspaces(database.reader, beforeMs)) {
    await database.write(workspaceId, (tx) => deleteIdleLanes(tx, workspaceId, beforeMs));
  }
}

/** Looks at the next ended entries: those past their time, by the month in which they ended. */
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
    // Ids begin with the time: what began later cannot have ended before.
    { afterId: place.afterId, untilId: idAt(scan.queue, beforeMs), limit: SCANNED_MAX },
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

const TIME_CHARS = 12;

function idAt(queue: QueueName, atMs: number): string {
  const prefix = queue === 'jobs' ? idPrefixes.job : idPrefixes.cloudAiJob;
  return `${prefix}_${Math.max(0, atMs).toString(16).padStart(TIME_CHARS, '0')}`;
}

/** Takes away some of what was noted. @returns how many entries. */
async function removePiece(tx: Tx, workspaceId: string): Promise<number> {
  const noted = await listRemovals(tx, workspaceId, REMOVALS_MAX);
  const changed = noted.filter(hasChanged);
  const going: RemovalState[] = [];
  let events = 0;
  for (const removal of noted) {
    if (hasChanged(removal)) continue;
    events += removal.last_seq;
    if (going.length > 0 && events > EVENTS_MAX) break;
    going.push(removal);
  }
  const goingIds = idsOf(going);
  await deleteEntries(tx, workspaceId, goingIds);
  for (const { entry_id, depends_on } of going) {
    if (depends_on === null || depends_on === '[]') continue;
    await deleteDependencies(tx, workspaceId, entry_id, JSON.parse(depends_on) as string[]);
  }
  const isGone = await removeTimelines(tx, workspaceId, going);
  await deleteRemovals(tx, workspaceId, [...idsOf(changed), ...(isGone ? goingIds : [])]);
  return going.filter(({ status }) => status !== null).length;
}

function idsOf(removals: readonly RemovalState[]): string[] {
  return removals.map(({ entry_id }) => entry_id);
}

/** Retried, needed again, or with late evidence: it is kept. */
function hasChanged(removal: RemovalState): boolean {
  if (removal.status === null) return false;
  return (
    removal.finished_now !== removal.finished_at ||
    removal.last_seq_now !== removal.last_seq ||
    removal.is_needed === 1
  );
}

/** @returns whether nothing is left of them. A long timeline goes in pieces, alone. */
async function removeTimelines(
  tx: Tx,
  workspaceId: string,
  going: readonly RemovalState[],
): Promise<boolean> {
  const [first] = going;
  if (first === undefined || first.last_seq <= EVENTS_MAX) {
    await deleteTimelines(tx, workspaceId, idsOf(going));
    return true;
  }
  const deleted = await deleteFirstEvents(tx, workspaceId, first.entry_id, EVENTS_MAX);
  return deleted < EVENTS_MAX;
}

/** Clears away files that a crash left before they were sealed: their jobs are all there. */
async function clearForgottenParts({ database, clock, archive }: ArchiveDeps): Promise<void> {
  if (archive === null) return;
  const createdAtMs = clock.nowMs() - FORGOTTEN_AFTER_MS;
  const parts = await listForgottenParts(database.reader, { createdAtMs, limit: FORGOTTEN_MAX });
  for (const part of parts) {
    // Bytes first: a crash between leaves the note, and the next piece deletes nothing twice.
    await archive.delete(part.object_key);
    await database.write(part.workspace_id, (tx) => deletePart(tx, part));
  }
}
