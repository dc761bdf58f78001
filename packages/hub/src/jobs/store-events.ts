import type { JobEventKind } from '@signalbox/contract';
import { assert } from '../base/errors.ts';
import type { Reader, SqlPart, Tx } from '../db/engine.ts';
import {
  deleteRows,
  insertOf,
  insertRow,
  sendUpdate,
  sql,
  writeReturning,
} from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { JobEventsTable } from '../db/schema/jobs.ts';
import type { Entry } from '../queue/entry.ts';

export type JobEventRow = JobEventsTable;

/** An event of a job's timeline. Attempt and agent are those of the entry unless given. */
export interface JobEventDraft {
  kind: JobEventKind;
  attempt?: number;
  agentId?: string | null;
  message?: string | null | undefined;
  data?: Record<string, unknown> | null | undefined;
}

/**
 * The lease of most claims, which their events do not store. Rows depend on it, so it stays as it
 * is when the default of claims changes.
 */
const USUAL_LEASE_MS = 600_000;

type EventEntry = Pick<Entry, 'workspace_id' | 'entry_id' | 'attempt' | 'agent_id'>;

/** Events refer to a job by its integer key; this finds it by the ids of workspace and job. */
export const KEY_OF_JOB =
  '(SELECT j.job_key FROM jobs AS j WHERE j.workspace_id = ? AND j.job_id = ?)';

const NEXT_SEQ = `(SELECT COALESCE(MAX(e.seq), 0) + 1 FROM job_events AS e
  WHERE e.job_key = ${KEY_OF_JOB})`;

/** Appends an event to a job's timeline. */
export function recordJobEvent(tx: Tx, entry: EventEntry, event: JobEventDraft): void {
  insertRow(tx, 'job_events', nextEvent(tx, entry, event), idsOf(entry));
}

/** Appends the event of a claim. */
export function recordClaim(tx: Tx, entry: EventEntry & Pick<Entry, 'lease_ms'>): void {
  const { lease_ms: leaseMs } = entry;
  recordJobEvent(tx, entry, {
    kind: 'claimed',
    data: leaseMs === USUAL_LEASE_MS ? null : { leaseMs },
  });
}

/** The data of an event, with what its row leaves out. */
export function readEventData(row: JobEventRow, createdBy: string): Record<string, unknown> | null {
  const data = row.data === null ? null : (JSON.parse(row.data) as Record<string, unknown>);
  if (row.seq === 1) return { by: createdBy, ...data };
  return row.kind === 'claimed' ? { leaseMs: USUAL_LEASE_MS, ...data } : data;
}

/** Writes the first event of a new job's timeline. */
export function recordFirstJobEvent(tx: Tx, entry: EventEntry, event: JobEventDraft): void {
  insertRow(tx, 'job_events', eventRow(tx, entry, event, 1), idsOf(entry));
}

/** Appends an event to a job's timeline and returns its sequence number. */
export async function recordJobEventForSeq(
  tx: Tx,
  entry: EventEntry,
  event: JobEventDraft,
): Promise<number> {
  const write = { ...insertOf('job_events', nextEvent(tx, entry, event)), about: idsOf(entry) };
  const [row] = await writeReturning<{ seq: number }>(tx, write, 'seq');
  assert(row !== undefined, 'an insert that returns its row returns one');
  return row.seq;
}

/** For the live stream: the rows have only the key of the job. */
function idsOf({ workspace_id, entry_id }: Pick<EventEntry, 'workspace_id' | 'entry_id'>) {
  return { workspace_id, job_id: entry_id };
}

function nextEvent(tx: Tx, entry: EventEntry, event: JobEventDraft) {
  return eventRow(tx, entry, event, sql(NEXT_SEQ, entry.workspace_id, entry.entry_id));
}

function eventRow(tx: Tx, entry: EventEntry, event: JobEventDraft, seq: number | SqlPart) {
  return {
    job_key: sql(KEY_OF_JOB, entry.workspace_id, entry.entry_id),
    seq,
    kind: event.kind,
    at: tx.nowMs,
    attempt: event.attempt ?? entry.attempt,
    agent_id: event.agentId === undefined ? entry.agent_id : event.agentId,
    message: event.message ?? null,
    data: event.data ? JSON.stringify(event.data) : null,
  };
}

/** Counts one more heartbeat without a message in the attempt's heartbeat event. */
export function foldHeartbeat(tx: Tx, entry: EventEntry, seq: number, count: number): void {
  sendUpdate(
    tx,
    'job_events',
    { seq, also: sql(`job_key = ${KEY_OF_JOB}`, entry.workspace_id, entry.entry_id) },
    { at: tx.nowMs, data: JSON.stringify({ count }) },
    idsOf(entry),
  );
}

/** Events after `after`, oldest first. */
export function listEvents(
  reader: Reader,
  workspaceId: string,
  jobId: string,
  page: { after: number; limit: number },
): Promise<JobEventRow[]> {
  return reader.allSql<JobEventRow>(
    `SELECT ${allColumns.job_events} FROM job_events WHERE job_key = ${KEY_OF_JOB} AND seq > ?
     ORDER BY seq LIMIT ?`,
    [workspaceId, jobId, page.after, page.limit],
  );
}

/** Events before `before`, or the last ones, newest first. */
export function listLastEvents(
  reader: Reader,
  workspaceId: string,
  jobId: string,
  page: { before?: number | undefined; limit: number },
): Promise<JobEventRow[]> {
  return reader.allSql<JobEventRow>(
    `SELECT ${allColumns.job_events} FROM job_events WHERE job_key = ${KEY_OF_JOB} AND seq < ?
     ORDER BY seq DESC LIMIT ?`,
    [workspaceId, jobId, page.before ?? Number.MAX_SAFE_INTEGER, page.limit],
  );
}

/** The claims and the ends of the latest attempts, newest first. */
export function listAttemptEvents(
  reader: Reader,
  workspaceId: string,
  jobId: string,
  limit: number,
): Promise<JobEventRow[]> {
  return reader.allSql<JobEventRow>(
    `SELECT ${allColumns.job_events} FROM job_events WHERE job_key = ${KEY_OF_JOB}
       AND kind IN ('claimed', 'completed', 'failed', 'blocked', 'canceled')
     ORDER BY seq DESC LIMIT ?`,
    [workspaceId, jobId, limit],
  );
}

/** Whether an agent ever held a job; evidence of other agents is not kept. */
export async function hasClaimed(
  reader: Reader,
  workspaceId: string,
  jobId: string,
  agentId: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    `SELECT 1 FROM job_events
     WHERE job_key = ${KEY_OF_JOB} AND kind = 'claimed' AND agent_id = ? LIMIT 1`,
    [workspaceId, jobId, agentId],
  );
  return row !== undefined;
}

/** Whether this completion was already kept as late evidence. */
export async function hasLateEvidence(
  reader: Reader,
  workspaceId: string,
  jobId: string,
  completionHash: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    `SELECT 1 FROM job_events WHERE job_key = ${KEY_OF_JOB} AND kind = 'log'
       AND data LIKE ? LIMIT 1`,
    [workspaceId, jobId, `%"completionHash":"${completionHash}"%`],
  );
  return row !== undefined;
}

/** How many attempts of a job have ended with a code of their reason, retried or not. */
export async function countOutcomes(
  reader: Reader,
  workspaceId: string,
  jobId: string,
  code: string,
): Promise<number> {
  const rows = await reader.allSql<{ data: string }>(
    `SELECT data FROM job_events WHERE job_key = ${KEY_OF_JOB} AND kind IN ('failed', 'blocked')
       AND data LIKE ? ESCAPE '!' ORDER BY seq DESC LIMIT ?`,
    [workspaceId, jobId, `%"code":${likeText(JSON.stringify(code))}%`, OUTCOMES_MAX],
  );
  // Evidence may contain the same words.
  return rows.filter(({ data }) => {
    const { outcomeReason } = JSON.parse(data) as { outcomeReason?: { code?: string } };
    return outcomeReason?.code === code;
  }).length;
}

/** The contract's limit of `occurrencesMax`. */
const OUTCOMES_MAX = 1_000;

function likeText(text: string): string {
  return text.replace(/[!%_]/g, '!$&');
}

/** The sequence numbers of the last events of some jobs; jobs without events are left out. */
export async function readLastSeqs(
  reader: Reader,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  // One index lookup for each job, however long its timeline is.
  const rows = await reader.allSql<{ job_id: string; seq: number | null }>(
    `SELECT j.job_id, (SELECT MAX(e.seq) FROM job_events AS e WHERE e.job_key = j.job_key) AS seq
     FROM jobs AS j WHERE j.workspace_id = ? AND j.job_id IN (SELECT value FROM json_each(?))`,
    [workspaceId, JSON.stringify(jobIds)],
  );
  return new Map(rows.flatMap(({ job_id, seq }) => (seq === null ? [] : [[job_id, seq]])));
}

/** Deletes events. Call it before the rows of the jobs are deleted. */
export async function deleteTimelines(
  tx: Tx,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<void> {
  const isOfJob = sql(
    `job_key IN (SELECT j.job_key FROM jobs AS j
       WHERE j.workspace_id = ? AND j.job_id IN (SELECT value FROM json_each(?)))`,
    workspaceId,
    JSON.stringify(jobIds),
  );
  await deleteRows(tx, 'job_events', { also: isOfJob }, { workspace_id: workspaceId });
}

/** Deletes the first events of a timeline. @returns how many. */
export async function deleteFirstEvents(
  tx: Tx,
  workspaceId: string,
  jobId: string,
  limit: number,
): Promise<number> {
  const isFirst = sql(
    `job_key = ${KEY_OF_JOB} AND seq < ? +
       (SELECT MIN(e.seq) FROM job_events AS e WHERE e.job_key = ${KEY_OF_JOB})`,
    ...[workspaceId, jobId, limit, workspaceId, jobId],
  );
  const ids = { workspace_id: workspaceId, job_id: jobId };
  return deleteRows(tx, 'job_events', { also: isFirst }, ids);
}
