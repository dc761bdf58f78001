import { assert } from '../base/errors.ts';
import type { BatchedWork, Reader } from '../db/engine.ts';
import { allColumns, columnsOf } from '../db/schema/columns.ts';
import type { ClaimFloors, Found, Search } from './claim-floors.ts';
import type { Entry } from './entry.ts';

/*
 * Claims on PostgreSQL, where several run concurrently, on this hub and on others. Row locks decide
 * who gets an entry. Many claims share one statement.
 */

/** A claim of the next ready entry of some lanes. */
export interface ClaimRequest {
  workspaceId: string;
  laneIds: readonly string[];
  floors: ClaimFloors;
  nowMs: number;
}

interface Locked {
  /** Null when nothing is ready. */
  entry: Entry | null;
  /** For the floors, after the commit; null when they need not know. */
  searched: [Search, Found] | null;
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
const candidatesOf = (looked: number, hasFloors: boolean) => `SELECT
    c.workspace_id, c.entry_id, c.sort_key
  FROM ${hasFloors ? 'json_to_recordset(?) AS lanes(value text, floor bigint)' : 'json_each(?) AS lanes'}
  CROSS JOIN LATERAL (
    SELECT workspace_id, entry_id, sort_key FROM queue_entries
    WHERE workspace_id = ? AND lane_id = lanes.value AND hold = 'ready'
      ${hasFloors ? 'AND sort_key >= lanes.floor' : ''}
    ORDER BY sort_key, entry_id LIMIT ${looked}
  ) AS c
  ORDER BY c.sort_key, c.entry_id LIMIT ${looked}`;

/** Entries of the index of ready ones that this session has read lately, dead ones included. */
const INDEX_READ = `pg_stat_get_xact_tuples_returned('queue_entries_ready'::regclass)`;

/**
 * Locks the next ready entry for each of some claims. Each claim starts the attempt of its entry
 * itself, at once: while the entry is ready, only its lock keeps other transactions from it.
 */
export const lockReady: BatchedWork<ClaimRequest, Locked> = {
  async run(reader, requests) {
    const answers: Locked[] = requests.map(() => ({ entry: null, searched: null }));
    const taken: string[] = [];
    for (const places of groupByLanes(requests).values()) {
      const request = requests[places[0] ?? 0];
      if (request === undefined || request.laneIds.length === 0) continue;
      const { floors, workspaceId, laneIds, nowMs } = request;
      const search = floors.begin(workspaceId, laneIds, nowMs);
      const { entries, found } = await lockInLanes(reader, search, { count: places.length, taken });
      const searched: Locked['searched'] = floors.isNoted(search, found) ? [search, found] : null;
      for (const [index, at] of places.entries()) {
        answers[at] = { entry: entries[index] ?? null, searched };
      }
      taken.push(...entries.map((entry) => entry.entry_id));
    }
    return answers;
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
  { workspaceId, laneIds, from }: Search,
  { count, taken }: { count: number; taken: readonly string[] },
): Promise<{ entries: Entry[]; found: Found }> {
  const lanes =
    from === null ? laneIds : laneIds.map((value, at) => ({ value, floor: from[at] ?? null }));
  const place = [JSON.stringify(lanes), workspaceId];
  const fewest = 2 ** Math.ceil(Math.log2(count + taken.length + MORE_CANDIDATES));
  for (let looked = fewest; ; looked *= FURTHER) {
    // The count of candidates comes with the entries, for which a claim that finds nothing would
    // wait once more; without entries it comes alone. Each candidate is looked up by itself: of a
    // join, the planner may read all entries of the workspace, or all ready ones, once for each
    // candidate, when its statistics are from a time with fewer. IS NOT DISTINCT FROM keeps it from
    // the index of ready entries. What was read before is asked for before the candidates, since
    // it is the outer side of the join.
    const rows = await reader.allSql<LockedRow>(
      `WITH candidates AS MATERIALIZED (${candidatesOf(looked, from !== null)}),
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
       SELECT (SELECT COUNT(*) FROM candidates) AS seen,
         (SELECT MIN(sort_key) FROM candidates) AS first,
         ${INDEX_READ} - before.index_read AS index_read, ${OF_LOCKED}
       FROM (SELECT ${INDEX_READ} AS index_read) AS before LEFT JOIN locked ON TRUE
       ORDER BY locked.sort_key, locked.entry_id`,
      [...place, JSON.stringify(taken), count],
    );
    const [row] = rows;
    assert(row !== undefined, 'the count of candidates comes without entries, too');
    const entries = rows.flatMap(({ seen: _s, first: _f, index_read: _r, ...entry }) =>
      isEntry(entry) ? [entry] : [],
    );
    const { seen, first, index_read: read } = row;
    if (entries.length < count && seen >= looked) continue;
    const readyMax = seen < looked ? seen : looked * laneIds.length;
    return { entries, found: { first, passed: (read ?? 0) - readyMax } };
  }
}

/** A locked entry, or nulls in place of one. */
type LockedRow = (Entry | { [column in keyof Entry]: null }) & {
  /** Candidates, and the sort key of the first. */
  seen: number;
  first: number | null;
  /** Null where the server counts nothing. */
  index_read: number | null;
};

function isEntry(row: Omit<LockedRow, 'seen' | 'first' | 'index_read'>): row is Entry {
  return row.entry_id !== null;
}
