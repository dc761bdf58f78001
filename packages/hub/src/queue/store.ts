import { assert } from '../base/errors.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { insertRow, sendUpdate, sql, updateRows } from '../db/row-write.ts';
import { allColumns, columnsOf } from '../db/schema/columns.ts';
import type { QueueName } from '../db/schema/queue.ts';
import type { Entry, EntryStatus, Hold } from './entry.ts';

/*
 * The queue's statements, prepared once each, in the SQL that both engines share; claims on
 * PostgreSQL have their own (`claim-postgres.ts`). Every one stays within a workspace, but for
 * those that the sweeper and the start run over all: `listDueWorkspaces` and `extendExpired`. What
 * was read is still true when it is written: on SQLite there is one writer; on PostgreSQL
 * `readEntry` locks the row within an action, and what is not about that one row calls
 * `requireExclusive` first.
 */

export function insertEntry(tx: Tx, entry: Entry): void {
  insertRow(tx, 'queue_entries', entry);
}

export function readEntry(
  reader: Reader,
  workspaceId: string,
  entryId: string,
): Promise<Entry | undefined> {
  return reader.firstSql<Entry>(
    `SELECT ${allColumns.queue_entries} FROM queue_entries WHERE workspace_id = ? AND entry_id = ?${reader.rowLock}`,
    [workspaceId, entryId],
  );
}

const selectLaneHeads = `SELECT ${columnsOf('e', 'queue_entries')} FROM json_each(?) AS lanes
  JOIN queue_entries AS e ON e.workspace_id = ? AND e.entry_id = (
    SELECT h.entry_id FROM queue_entries AS h
    WHERE h.workspace_id = ? AND h.lane_id = lanes.value AND h.hold = 'ready'
    ORDER BY h.sort_key, h.entry_id LIMIT 1)`;

/** The next ready entry of each of some lanes, in no particular order. */
export function readLaneHeads(
  reader: Reader,
  workspaceId: string,
  laneIds: readonly string[],
): Promise<Entry[]> {
  if (laneIds.length === 0) return Promise.resolve([]);
  return reader.allSql<Entry>(selectLaneHeads, [JSON.stringify(laneIds), workspaceId, workspaceId]);
}

/** Whether any of some lanes has a pending entry, ready or on hold. */
export async function hasPendingEntry(
  reader: Reader,
  workspaceId: string,
  laneIds: readonly string[],
): Promise<boolean> {
  if (laneIds.length === 0) return false;
  const inLane = (hold: string) => `EXISTS (SELECT 1 FROM queue_entries
    WHERE workspace_id = ? AND lane_id = lanes.value AND ${hold})`;
  // Two conditions, because each is answered by an index of its own.
  const row = await reader.firstSql(
    `SELECT 1 FROM json_each(?) AS lanes
     WHERE ${inLane("hold = 'ready'")} OR ${inLane("hold <> 'ready'")} LIMIT 1`,
    [JSON.stringify(laneIds), workspaceId, workspaceId],
  );
  return row !== undefined;
}

export async function isKeyRunning(
  reader: Reader,
  workspaceId: string,
  queue: QueueName,
  key: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    `SELECT 1 FROM queue_entries WHERE workspace_id = ? AND queue = ? AND concurrency_key = ?
       AND status = 'running' LIMIT 1`,
    [workspaceId, queue, key],
  );
  return row !== undefined;
}

export async function countRunningOfAgent(
  reader: Reader,
  workspaceId: string,
  agentId: string,
): Promise<number> {
  const row = await reader.firstSql<{ running: number }>(
    `SELECT COUNT(*) AS running FROM queue_entries
     WHERE workspace_id = ? AND agent_id = ? AND status = 'running'`,
    [workspaceId, agentId],
  );
  return row?.running ?? 0;
}

/** The entries that an agent holds, of all queues. */
export function listRunningOfAgent(
  reader: Reader,
  workspaceId: string,
  agentId: string,
  limit: number,
): Promise<Entry[]> {
  return reader.allSql<Entry>(
    `SELECT ${allColumns.queue_entries} FROM queue_entries
     WHERE workspace_id = ? AND agent_id = ? AND status = 'running' ORDER BY entry_id LIMIT ?`,
    [workspaceId, agentId, limit],
  );
}

/** The ids of the entries that an agent holds and is asked to cancel. */
export async function listCancelRequests(
  reader: Reader,
  workspaceId: string,
  agentId: string,
): Promise<string[]> {
  const rows = await reader.allSql<{ entry_id: string }>(
    `SELECT entry_id FROM queue_entries WHERE workspace_id = ? AND agent_id = ?
       AND status = 'running' AND cancel_requested_at IS NOT NULL ORDER BY entry_id`,
    [workspaceId, agentId],
  );
  return rows.map((row) => row.entry_id);
}

/** The entry that an agent holds under a claim key, which a repeated claim returns again. */
export function readEntryByClaimKey(
  reader: Reader,
  workspaceId: string,
  agentId: string,
  queue: QueueName,
  claimKey: string,
): Promise<Entry | undefined> {
  return reader.firstSql<Entry>(
    `SELECT ${allColumns.queue_entries} FROM queue_entries
     WHERE workspace_id = ? AND agent_id = ? AND status = 'running' AND queue = ? AND claim_key = ?`,
    [workspaceId, agentId, queue, claimKey],
  );
}

export interface LeaseGrant {
  agentId: string;
  leaseMs: number;
  claimKey: string | null;
  jobTokenHash: string | null;
}

/**
 * Starts an attempt of an entry that is ready, or reserved for this agent. The attempt number,
 * which is the claim generation, rises by one.
 */
export function startAttempt(tx: Tx, entry: Entry, grant: LeaseGrant): Entry {
  const isReserved = entry.hold === 'preferred' && entry.prefer_agent_id === grant.agentId;
  assert(
    entry.hold === 'ready' || isReserved,
    'a claimed entry is ready, or reserved for its agent',
  );
  return changeEntry(tx, entry, {
    status: 'running',
    hold: null,
    attempt: entry.attempt + 1,
    agent_id: grant.agentId,
    lease_ms: grant.leaseMs,
    lease_expires_at: tx.nowMs + grant.leaseMs,
    claim_key: grant.claimKey,
    job_token_hash: grant.jobTokenHash,
    started_at: tx.nowMs,
    heartbeat_seq: null,
    heartbeat_count: 0,
    ...(entry.prefer_until === PINNED_UNTIL_MS
      ? {}
      : { prefer_agent_id: null, prefer_until: null }),
  });
}

/** The columns that only a running entry has. */
const noLease = {
  lease_expires_at: null,
  lease_ms: null,
  claim_key: null,
  job_token_hash: null,
} as const;

/** Takes an entry out of the queue; a blocked or failed one may return. */
export function stopAttempt(tx: Tx, entry: Entry, status: EntryStatus): Entry {
  return changeEntry(tx, entry, {
    status,
    hold: null,
    ...noLease,
    finished_at: tx.nowMs,
  });
}

interface PendingPlace {
  hold: Hold;
  availableAtMs: number;
  attemptsMax: number;
  preference: Preference | null;
}

/** For an entry that no other agent can ever do: the latest time that JavaScript knows. */
export const PINNED_UNTIL_MS = 8_640_000_000_000_000;

/** The only agent that may claim an entry, and until when. */
export interface Preference {
  agentId: string;
  untilMs: number;
}

/** Makes an entry pending again. */
export function returnToPending(tx: Tx, entry: Entry, place: PendingPlace): Entry {
  return changeEntry(tx, entry, {
    status: 'pending',
    hold: place.hold,
    available_at: place.availableAtMs,
    attempts_max: place.attemptsMax,
    ...noLease,
    finished_at: null,
    cancel_requested_at: null,
    prefer_agent_id: place.preference?.agentId ?? null,
    prefer_until: place.preference?.untilMs ?? null,
  });
}

export async function setHold(tx: Tx, workspaceId: string, entryId: string, hold: Hold) {
  await updateRows(
    tx,
    'queue_entries',
    { workspace_id: workspaceId, entry_id: entryId, status: 'pending' },
    { hold },
  );
}

/** Puts the ready entries of a lane that need a concurrency key on hold, in one statement. */
export async function holdForKey(
  tx: Tx,
  { workspace_id, lane_id, concurrency_key }: Entry,
): Promise<void> {
  await updateRows(
    tx,
    'queue_entries',
    { workspace_id, lane_id, concurrency_key, also: sql("hold = 'ready'") },
    { hold: 'key' },
  );
}

/** Updates a running entry. On PostgreSQL a renewal changes no column of an index. */
export function updateRunning(
  tx: Tx,
  entry: Entry,
  values: Partial<
    Pick<
      Entry,
      'lease_ms' | 'lease_expires_at' | 'cancel_requested_at' | 'heartbeat_seq' | 'heartbeat_count'
    >
  >,
): Entry {
  assert(entry.status === 'running', 'only a running entry has a lease');
  if (Object.keys(values).length === 0) return entry;
  return changeEntry(tx, entry, values);
}

/**
 * Updates columns of an entry that this transaction has read, fenced by its attempt and status.
 * Computes the new entry instead of using RETURNING, for which SQLite builds a table each time.
 */
export function changeEntry(tx: Tx, entry: Entry, values: Partial<Entry>): Entry {
  const { workspace_id, entry_id, attempt, status } = entry;
  sendUpdate(tx, 'queue_entries', { workspace_id, entry_id, attempt, status }, values);
  return { ...entry, ...values };
}

/** The entries, to be searched by the expiry of their lease; PostgreSQL has no index of that. */
function byExpiry({ engine }: Reader): string {
  return engine === 'sqlite' ? 'queue_entries INDEXED BY queue_entries_expiring' : 'queue_entries';
}

/** Entries with expired leases. */
export function listExpired(
  reader: Reader,
  nowMs: number,
  workspaceId: string,
  limit: number,
): Promise<Entry[]> {
  return reader.allSql<Entry>(
    `SELECT ${allColumns.queue_entries} FROM ${byExpiry(reader)}
     WHERE workspace_id = ? AND status = 'running' AND lease_expires_at <= ? LIMIT ?`,
    [workspaceId, nowMs, limit],
  );
}

/**
 * Workspaces with work for the sweeper: a lease, a delay or a preference has expired, or dependents
 * of a done entry are still to be released.
 */
export async function listDueWorkspaces(
  reader: Reader,
  nowMs: number,
  limit: number,
): Promise<string[]> {
  const rows = await reader.allSql<{ workspace_id: string }>(
    `SELECT DISTINCT workspace_id FROM (
       SELECT workspace_id FROM ${byExpiry(reader)}
       WHERE status = 'running' AND lease_expires_at <= ?
       UNION ALL
       SELECT workspace_id FROM queue_entries WHERE hold = 'delayed' AND available_at <= ?
       UNION ALL
       SELECT workspace_id FROM queue_entries WHERE hold = 'preferred' AND prefer_until <= ?
       UNION ALL
       SELECT workspace_id FROM queue_settlements
     ) AS due LIMIT ?`,
    [nowMs, nowMs, nowMs, limit],
  );
  return rows.map((row) => row.workspace_id);
}

/** Entries whose delay, or whose reservation for one agent, has expired. */
export async function listDue(
  reader: Reader,
  nowMs: number,
  workspaceId: string,
  limit: number,
): Promise<Entry[]> {
  const list = (hold: string, until: string) =>
    reader.allSql<Entry>(
      `SELECT ${allColumns.queue_entries} FROM queue_entries WHERE hold = '${hold}' AND ${until} <= ?
         AND workspace_id = ? ORDER BY ${until} LIMIT ?`,
      [nowMs, workspaceId, limit],
    );
  // Two statements, because each is answered by an index of its own.
  const found = [list('delayed', 'available_at'), list('preferred', 'prefer_until')];
  return (await Promise.all(found)).flat().slice(0, limit);
}

/** The entries that are reserved for an agent, in claim order. */
export function listPreferred(
  reader: Reader,
  workspaceId: string,
  agentId: string,
): Promise<Entry[]> {
  return reader.allSql<Entry>(
    `SELECT ${allColumns.queue_entries} FROM queue_entries
     WHERE workspace_id = ? AND prefer_agent_id = ? AND hold = 'preferred'
     ORDER BY sort_key, entry_id`,
    [workspaceId, agentId],
  );
}

type HeldHead = Pick<Entry, 'entry_id' | 'lane_id' | 'sort_key'>;

/** The first entry of each lane that waits for a concurrency key. */
export async function listKeyHeldHeads(
  reader: Reader,
  workspaceId: string,
  queue: QueueName,
  key: string,
): Promise<HeldHead[]> {
  const heads: HeldHead[] = [];
  let laneId = '';
  for (;;) {
    // One index lookup a lane, however many entries wait in it.
    const head = await reader.firstSql<HeldHead>(
      `SELECT entry_id, lane_id, sort_key FROM queue_entries
       WHERE workspace_id = ? AND queue = ? AND concurrency_key = ? AND hold = 'key'
         AND lane_id > ?
       ORDER BY lane_id, sort_key, entry_id LIMIT 1`,
      [workspaceId, queue, key, laneId],
    );
    if (head === undefined) return heads;
    heads.push(head);
    laneId = head.lane_id;
  }
}

/** Extends leases that expired while no hub was running. */
export async function extendExpired(tx: Tx, graceMs: number): Promise<number> {
  return updateRows(
    tx,
    'queue_entries',
    { also: sql("status = 'running' AND lease_expires_at <= ?", tx.nowMs) },
    { lease_expires_at: tx.nowMs + graceMs },
  );
}
