import type { BatchedWork, Reader } from '../db/engine.ts';
import { allColumns, columnsOf } from '../db/schema/columns.ts';
import type { Entry } from './entry.ts';

/*
 * Claims on PostgreSQL, where several run concurrently, on this hub and on others. Row locks decide
 * who gets an entry. Many claims share one statement.
 */

/** A claim of the next ready entry of some lanes. */
export interface ClaimRequest {
  workspaceId: string;
  laneIds: readonly string[];
}

/** Extra candidates to select, since other transactions may hold locks on the first ones. */
const MORE_CANDIDATES = 32;
const OF_CANDIDATE = columnsOf('e', 'queue_entries');
const OF_LOCKED = columnsOf('locked', 'queue_entries');
/** The factor by which the next search is larger when there were too few. */
const FURTHER = 8;

/**
 * Selects the ready entries of some lanes in claim order. The limit is part of the text, as one of
 * a few powers of two: for a limit that is a parameter, the planner chooses to scan the table.
 */
const candidatesOf = (looked: number) => `SELECT c.workspace_id, c.entry_id
  FROM json_each(?) AS lanes
  CROSS JOIN LATERAL (
    SELECT workspace_id, entry_id, sort_key FROM queue_entries
    WHERE workspace_id = ? AND lane_id = lanes.value AND hold = 'ready'
    ORDER BY sort_key, entry_id LIMIT ${looked}
  ) AS c
  ORDER BY c.sort_key, c.entry_id LIMIT ${looked}`;

/**
 * Locks the next ready entry for each of some claims; null when nothing is ready. Each claim starts
 * the attempt of its entry itself, at once: while the entry is ready, only its lock keeps other
 * transactions from it.
 */
export const lockReady: BatchedWork<ClaimRequest, Entry | null> = {
  async run(reader, requests) {
    const entries: (Entry | null)[] = requests.map(() => null);
    const taken: string[] = [];
    for (const places of groupByLanes(requests).values()) {
      const request = requests[places[0] ?? 0];
      if (request === undefined || request.laneIds.length === 0) continue;
      const locked = await lockInLanes(reader, request, { count: places.length, taken });
      for (const [index, at] of places.entries()) entries[at] = locked[index] ?? null;
      taken.push(...locked.map((entry) => entry.entry_id));
    }
    return entries;
  },
};

/** The positions of the requests, grouped by the lanes that they ask for. */
function groupByLanes(requests: readonly ClaimRequest[]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const [at, { workspaceId, laneIds }] of requests.entries()) {
    const key = JSON.stringify([workspaceId, ...laneIds]);
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(at);
  }
  return groups;
}

/**
 * Locks the next entries of some lanes in claim order. Skips entries that another transaction has
 * locked, since it is about to claim them, and those that this transaction has taken.
 */
async function lockInLanes(
  reader: Reader,
  { workspaceId, laneIds }: ClaimRequest,
  { count, taken }: { count: number; taken: readonly string[] },
): Promise<Entry[]> {
  const place = [JSON.stringify(laneIds), workspaceId];
  const first = 2 ** Math.ceil(Math.log2(count + taken.length + MORE_CANDIDATES));
  for (let looked = first; ; looked *= FURTHER) {
    // The count of candidates comes with the entries, for which a claim that finds nothing would
    // wait once more; without entries it comes alone. Each candidate is looked up by itself: of a
    // join, the planner may read all entries of the workspace, or all ready ones, once for each
    // candidate, when its statistics are from a time with fewer. IS NOT DISTINCT FROM keeps it from
    // the index of ready entries.
    const rows = await reader.allSql<LockedRow>(
      `WITH candidates AS MATERIALIZED (${candidatesOf(looked)}),
       locked AS MATERIALIZED (
         SELECT ${OF_CANDIDATE} FROM candidates CROSS JOIN LATERAL (
           SELECT ${allColumns.queue_entries} FROM queue_entries AS q
           WHERE q.workspace_id = candidates.workspace_id AND q.entry_id = candidates.entry_id
             AND q.hold IS NOT DISTINCT FROM 'ready'
             AND q.entry_id NOT IN (SELECT value FROM json_each(?))
           LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
         ) AS e
         LIMIT ?
       )
       SELECT (SELECT COUNT(*) FROM candidates) AS seen, ${OF_LOCKED}
       FROM (SELECT 1) AS always LEFT JOIN locked ON TRUE
       ORDER BY locked.sort_key, locked.entry_id`,
      [...place, JSON.stringify(taken), count],
    );
    const entries = rows.flatMap(({ seen: _seen, ...entry }) => (isEntry(entry) ? [entry] : []));
    if (entries.length === count || (rows[0]?.seen ?? 0) < looked) return entries;
  }
}

/** A locked entry, or nulls in place of one. */
type LockedRow = (Entry | { [column in keyof Entry]: null }) & { seen: number };

function isEntry(row: Omit<LockedRow, 'seen'>): row is Entry {
  return row.entry_id !== null;
}
