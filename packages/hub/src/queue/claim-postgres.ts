import type { BatchedWork, Tx } from '../db/engine.ts';
import type { Entry } from './entry.ts';
import type { LeaseGrant } from './store.ts';

/*
 * Claims on PostgreSQL, where several run concurrently, on this hub and on others. Row locks decide
 * who gets an entry. Many claims share one statement that selects and one that updates.
 */

/** A claim of the next ready entry of some lanes. */
export interface ClaimRequest {
  workspaceId: string;
  laneIds: readonly string[];
  /** Makes the grant for the entry and generation that will be claimed. */
  grantFor: (entryId: string, generation: number) => LeaseGrant;
}

/**
 * The claimed entry; null when nothing is ready; `keyed` when the next entry has a concurrency key,
 * which only an exclusive transaction can check.
 */
export type ClaimResult = Entry | null | 'keyed';

/** Extra candidates to select, since other transactions may hold locks on the first ones. */
const MORE_CANDIDATES = 32;
/** The factor by which the next search is larger when there were too few. */
const FURTHER = 8;

/**
 * Selects the ready entries of some lanes in claim order. The limit is part of the text, as one of
 * a few powers of two: for a limit that is a parameter, the planner chooses to scan the table.
 */
const candidatesOf = (looked: number) => `SELECT c.entry_id FROM json_each(?) AS lanes
  CROSS JOIN LATERAL (
    SELECT entry_id, sort_key FROM queue_entries
    WHERE workspace_id = ? AND lane_id = lanes.value AND hold = 'ready'
    ORDER BY sort_key, entry_id LIMIT ${looked}
  ) AS c
  ORDER BY c.sort_key, c.entry_id LIMIT ${looked}`;

export const claimReady: BatchedWork<ClaimRequest, ClaimResult> = {
  async run(tx, requests) {
    const results: ClaimResult[] = requests.map(() => null);
    for (const places of groupByLanes(requests).values()) {
      const group = places.map((at) => requests[at]).filter((request) => request !== undefined);
      const claimed = await claimFromLanes(tx, group);
      for (const [index, at] of places.entries()) results[at] = claimed[index] ?? null;
    }
    return results;
  },
  rowsWritten: (result) =>
    result === null || result === 'keyed'
      ? []
      : [{ table: 'queue_entries', workspaceId: result.workspace_id, id: result.entry_id }],
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

/** Claims for a group: the first request gets the first entry. Results are in request order. */
async function claimFromLanes(tx: Tx, group: readonly ClaimRequest[]): Promise<ClaimResult[]> {
  const [first] = group;
  if (first === undefined || first.laneIds.length === 0) return [];
  const entries = await lockReady(tx, first, group.length);
  const grants = entries.flatMap((entry, at) => {
    const request = group[at];
    if (request === undefined || entry.concurrency_key !== null) return [];
    return [{ entry_id: entry.entry_id, ...request.grantFor(entry.entry_id, entry.attempt + 1) }];
  });
  const started = await startAttempts(tx, first.workspaceId, grants);
  return entries.map((entry) =>
    entry.concurrency_key === null ? (started.get(entry.entry_id) ?? null) : 'keyed',
  );
}

/**
 * Locks the next entries of some lanes in claim order. Skips entries that another transaction has
 * locked, since it is about to claim them.
 */
async function lockReady(
  tx: Tx,
  { workspaceId, laneIds }: ClaimRequest,
  count: number,
): Promise<Entry[]> {
  const place = [JSON.stringify(laneIds), workspaceId];
  const first = 2 ** Math.ceil(Math.log2(count + MORE_CANDIDATES));
  for (let looked = first; ; looked *= FURTHER) {
    const candidates = candidatesOf(looked);
    const entries = await tx.allSql<Entry>(
      `WITH candidates AS MATERIALIZED (${candidates})
       SELECT e.* FROM candidates JOIN queue_entries AS e
         ON e.workspace_id = ? AND e.entry_id = candidates.entry_id AND e.hold = 'ready'
       ORDER BY e.sort_key, e.entry_id LIMIT ?
       FOR NO KEY UPDATE OF e SKIP LOCKED`,
      [...place, workspaceId, count],
    );
    if (entries.length === count) return entries;
    const seen = await tx.firstSql<{ seen: number }>(
      `SELECT COUNT(*) AS seen FROM (${candidates}) AS candidates`,
      place,
    );
    if ((seen?.seen ?? 0) < looked) return entries;
  }
}

/** Starts an attempt of each locked entry for the agent of its grant. */
async function startAttempts(
  tx: Tx,
  workspaceId: string,
  grants: readonly (LeaseGrant & { entry_id: string })[],
): Promise<Map<string, Entry>> {
  if (grants.length === 0) return new Map();
  const rows = await tx.allSql<Entry>(
    `UPDATE queue_entries AS e SET status = 'running', hold = NULL, attempt = e.attempt + 1,
       agent_id = g."agentId", lease_ms = g."leaseMs", lease_expires_at = ? + g."leaseMs",
       claim_key = g."claimKey", job_token_hash = g."jobTokenHash", started_at = ?,
       heartbeat_seq = NULL, heartbeat_count = 0, prefer_agent_id = NULL, prefer_until = NULL
     FROM json_to_recordset(?::json) AS g(entry_id text, "agentId" text, "leaseMs" bigint,
       "claimKey" text, "jobTokenHash" text)
     WHERE e.workspace_id = ? AND e.entry_id = g.entry_id AND e.hold = 'ready'
     RETURNING e.*`,
    [tx.nowMs, tx.nowMs, JSON.stringify(grants), workspaceId],
  );
  return new Map(rows.map((row) => [row.entry_id, row]));
}
