import type { JobEventKind } from '@signalbox/contract';
import type { Reader, SqlValue, Tx } from '../db/engine.ts';
import type { JobEventsTable } from '../db/schema/tables.ts';

export type JobEventRow = JobEventsTable;

export interface JobEventDraft {
  eventId: string;
  workspaceId: string;
  jobId: string;
  kind: JobEventKind;
  attempt: number;
  agentId: string | null;
  message?: string | null | undefined;
  data?: Record<string, unknown> | null | undefined;
}

const APPEND_EVENT = `INSERT INTO job_events
    (workspace_id, job_id, seq, event_id, kind, at, attempt, agent_id, message, data)
  VALUES (?, ?,
    (SELECT COALESCE(MAX(e.seq), 0) + 1 FROM job_events AS e
     WHERE e.workspace_id = ? AND e.job_id = ?),
    ?, ?, ?, ?, ?, ?, ?)`;

/** Adds an event at the end of a job's timeline. */
export async function appendEvent(tx: Tx, event: JobEventDraft): Promise<void> {
  await tx.runSql(APPEND_EVENT, appendedValuesOf(tx, event));
}

/** Begins the timeline of a job that is new. */
export async function insertFirstEvent(tx: Tx, event: JobEventDraft): Promise<void> {
  await tx.runSql(
    `INSERT INTO job_events
       (workspace_id, job_id, seq, event_id, kind, at, attempt, agent_id, message, data)
     VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?)`,
    valuesOf(tx, event),
  );
}

/** Adds an event at the end of a job's timeline and returns the event's place. */
export async function appendEventForPlace(tx: Tx, event: JobEventDraft): Promise<number> {
  const row = await tx.firstSql<{ seq: number }>(
    `${APPEND_EVENT} RETURNING seq`,
    appendedValuesOf(tx, event),
  );
  if (row === undefined) throw new Error('an event was not inserted');
  return row.seq;
}

/** The place twice: of the event, and of those that it comes after. */
function appendedValuesOf(tx: Tx, event: JobEventDraft): SqlValue[] {
  const { workspaceId, jobId } = event;
  return [workspaceId, jobId, ...valuesOf(tx, event)];
}

function valuesOf(tx: Tx, event: JobEventDraft): SqlValue[] {
  return [
    event.workspaceId,
    event.jobId,
    event.eventId,
    event.kind,
    tx.nowMs,
    event.attempt,
    event.agentId,
    event.message ?? null,
    event.data ? JSON.stringify(event.data) : null,
  ];
}

/** Folds one more heartbeat without a message into the attempt's heartbeat event. */
export async function foldHeartbeat(
  tx: Tx,
  place: { workspaceId: string; jobId: string; seq: number },
  count: number,
): Promise<void> {
  await tx.runSql(
    'UPDATE job_events SET at = ?, data = ? WHERE workspace_id = ? AND job_id = ? AND seq = ?',
    [tx.nowMs, JSON.stringify({ count }), place.workspaceId, place.jobId, place.seq],
  );
}

/** Ascending: the events behind `after`, or the last `limit`. */
export async function listEvents(
  reader: Reader,
  workspaceId: string,
  jobId: string,
  page: { after: number | undefined; limit: number },
): Promise<JobEventRow[]> {
  if (page.after !== undefined) {
    return reader.allSql<JobEventRow>(
      `SELECT * FROM job_events WHERE workspace_id = ? AND job_id = ? AND seq > ?
       ORDER BY seq LIMIT ?`,
      [workspaceId, jobId, page.after, page.limit],
    );
  }
  const rows = await reader.allSql<JobEventRow>(
    `SELECT * FROM job_events WHERE workspace_id = ? AND job_id = ? ORDER BY seq DESC LIMIT ?`,
    [workspaceId, jobId, page.limit],
  );
  return rows.reverse();
}

/** Whether an agent ever held a job: only such an agent may leave late evidence. */
export async function hasClaimed(
  reader: Reader,
  workspaceId: string,
  jobId: string,
  agentId: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    `SELECT 1 FROM job_events
     WHERE workspace_id = ? AND job_id = ? AND kind = 'claimed' AND agent_id = ? LIMIT 1`,
    [workspaceId, jobId, agentId],
  );
  return row !== undefined;
}

/** Whether this very completion was kept as late evidence before. */
export async function hasLateEvidence(
  reader: Reader,
  workspaceId: string,
  jobId: string,
  completionHash: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    `SELECT 1 FROM job_events WHERE workspace_id = ? AND job_id = ? AND kind = 'log'
       AND data LIKE ? LIMIT 1`,
    [workspaceId, jobId, `%"completionHash":"${completionHash}"%`],
  );
  return row !== undefined;
}
