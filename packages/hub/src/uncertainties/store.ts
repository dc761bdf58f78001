import { UNDO_MS_MAX } from '@signalbox/contract';
import type { KeptRead, Reader, Tx } from '../db/engine.ts';
import { isKnownEmpty } from '../db/kept-reads.ts';
import { sql, updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { UncertaintiesTable } from '../db/schema/uncertainties.ts';

export type UncertaintyRow = UncertaintiesTable;
export type UncertaintyKey = Pick<UncertaintyRow, 'workspace_id' | 'uncertainty_id'>;

export function readUncertainty(
  reader: Reader,
  workspaceId: string,
  uncertaintyId: string,
): Promise<UncertaintyRow | undefined> {
  return reader.firstSql<UncertaintyRow>(
    `SELECT ${allColumns.uncertainties} FROM uncertainties WHERE workspace_id = ? AND uncertainty_id = ?`,
    [workspaceId, uncertaintyId],
  );
}

/** Those of some uncertainties that are not open, for their askers. PostgreSQL only. */
export function listNotOpen(
  reader: Reader,
  ids: readonly { workspaceId: string; uncertaintyId: string }[],
): Promise<{ workspace_id: string; uncertainty_id: string }[]> {
  return reader.allSql(
    `SELECT u.workspace_id, u.uncertainty_id
     FROM json_to_recordset(?::json) AS wanted("workspaceId" text, "uncertaintyId" text)
     JOIN uncertainties AS u
       ON u.workspace_id = wanted."workspaceId" AND u.uncertainty_id = wanted."uncertaintyId"
     WHERE u.status <> 'open' AND u.hand_over_at IS NULL`,
    [JSON.stringify(ids)],
  );
}

export async function hasDecisionRequest(
  reader: Reader,
  workspaceId: string,
  decisionRequestId: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    'SELECT 1 FROM uncertainties WHERE workspace_id = ? AND decision_request_id = ?',
    [workspaceId, decisionRequestId],
  );
  return row !== undefined;
}

const keyOf = ({ workspace_id, uncertainty_id }: UncertaintyKey) => ({
  workspace_id,
  uncertainty_id,
});

/**
 * Makes an uncertainty with an assumed value an open decision request. Removes a deadline that has
 * passed, which would resolve the request at once.
 */
export async function updatePromoted(
  tx: Tx,
  row: UncertaintyRow,
  decisionRequestId: string,
): Promise<void> {
  const deadline = sql('CASE WHEN deadline_at <= ? THEN NULL ELSE deadline_at END', tx.nowMs);
  await updateRows(
    tx,
    'uncertainties',
    { ...keyOf(row), status: 'assumed' },
    {
      status: 'open',
      decision_request_id: decisionRequestId,
      promoted_at: tx.nowMs,
      deadline_at: deadline,
    },
  );
}

/**
 * Marks an uncertainty as resolved. This is the fence that lets the first resolution win.
 *
 * @param options.handOverAtMs when the answer is handed over; null: now.
 * @returns false when it was resolved before and `supersede` is false.
 */
export async function updateResolved(
  tx: Tx,
  row: UncertaintyRow,
  { supersede, handOverAtMs }: { supersede: boolean; handOverAtMs: number | null },
): Promise<boolean> {
  const changes = await updateRows(
    tx,
    'uncertainties',
    { ...keyOf(row), ...(supersede ? {} : { also: sql("status <> 'resolved'") }) },
    { status: 'resolved', resolved_at: tx.nowMs, hand_over_at: handOverAtMs },
  );
  return changes > 0;
}

/** Due, or further away than any answer is held: the clock was set back. */
const IS_HAND_OVER_DUE = `(hand_over_at <= ? OR hand_over_at - ${UNDO_MS_MAX} > ?)`;

/**
 * Claims the hand-over of an answer whose time has come.
 *
 * @returns false when it was handed over, withdrawn or superseded since it was listed.
 */
export async function updateHandedOver(tx: Tx, ref: UncertaintyKey): Promise<boolean> {
  const changes = await updateRows(
    tx,
    'uncertainties',
    { ...keyOf(ref), also: sql(IS_HAND_OVER_DUE, tx.nowMs, tx.nowMs) },
    { hand_over_at: null },
  );
  return changes > 0;
}

/** Uncertainties of all workspaces whose answer is to be handed over now. */
export function listDueHandOvers(
  reader: Reader,
  nowMs: number,
  limit: number,
): Promise<UncertaintyKey[]> {
  return reader.allSql(
    `SELECT workspace_id, uncertainty_id FROM uncertainties
     WHERE ${IS_HAND_OVER_DUE} ORDER BY hand_over_at LIMIT ?`,
    [nowMs, nowMs, limit],
  );
}

/** Writes the job that the answer was handed to, and whether that job has received it. */
export async function updateAnswerJob(
  tx: Tx,
  row: UncertaintyKey,
  jobId: string | null,
  { isSeen }: { isSeen: boolean },
): Promise<void> {
  await updateRows(
    tx,
    'uncertainties',
    { workspace_id: row.workspace_id, uncertainty_id: row.uncertainty_id },
    { answer_job_id: jobId, answer_seen_at: isSeen ? tx.nowMs : null },
  );
}

/**
 * Records that a job has received its answers.
 *
 * @param uncertaintyId null: all answers that were handed to the job.
 */
export async function updateAnswersSeen(
  tx: Tx,
  workspaceId: string,
  jobId: string,
  uncertaintyId: string | null,
): Promise<void> {
  await updateRows(
    tx,
    'uncertainties',
    {
      workspace_id: workspaceId,
      answer_job_id: jobId,
      answer_seen_at: null,
      ...(uncertaintyId === null ? {} : { uncertainty_id: uncertaintyId }),
    },
    { answer_seen_at: tx.nowMs },
  );
}

/**
 * Writes the recommended value of an open decision request, unless the asker has given one.
 *
 * @returns whether it was written.
 */
export async function recommendValue(
  tx: Tx,
  workspaceId: string,
  uncertaintyId: string,
  value: string,
): Promise<boolean> {
  const changes = await updateRows(
    tx,
    'uncertainties',
    {
      workspace_id: workspaceId,
      uncertainty_id: uncertaintyId,
      status: 'open',
      recommended_value: null,
    },
    { recommended_value: value },
  );
  return changes > 0;
}

/** The answers that were handed to a job but not received by it yet, oldest question first. */
export function listUnseenAnswers(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<UncertaintyRow[]> {
  return reader.allSql<UncertaintyRow>(
    `SELECT ${allColumns.uncertainties} FROM uncertainties
     WHERE workspace_id = ? AND answer_job_id = ? AND answer_seen_at IS NULL
     ORDER BY uncertainty_id`,
    [workspaceId, jobId],
  );
}

/** The oldest decision request of a job without an answer, or with one that can be withdrawn. */
export function readOpenOfJob(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<UncertaintyRow | undefined> {
  return reader.firstSql<UncertaintyRow>(
    `SELECT ${allColumns.uncertainties} FROM uncertainties WHERE workspace_id = ? AND job_id = ?
       AND (status = 'open' OR hand_over_at IS NOT NULL)
     ORDER BY uncertainty_id LIMIT 1`,
    [workspaceId, jobId],
  );
}

/** Counts the uncertainties of a job, up to `countMax`, and the open ones among these. */
export async function countOfJob(
  reader: Reader,
  workspaceId: string,
  jobId: string,
  countMax: number,
): Promise<{ open: number; all: number }> {
  const row = await reader.firstSql<{ open: number; all_of_job: number }>(
    `SELECT COUNT(*) AS all_of_job, COUNT(CASE WHEN status = 'open' THEN 1 END) AS open FROM (
       SELECT status FROM uncertainties WHERE workspace_id = ? AND job_id = ?
       ORDER BY uncertainty_id DESC LIMIT ?) AS latest`,
    [workspaceId, jobId, countMax],
  );
  return { open: row?.open ?? 0, all: row?.all_of_job ?? 0 };
}

/** The newest uncertainty about an action of a job that is open, or whose answer is not taken. */
export function readUntakenAction(
  reader: Reader,
  workspaceId: string,
  jobId: string,
  actionKey: string,
): Promise<UncertaintyRow | undefined> {
  return reader.firstSql<UncertaintyRow>(
    `SELECT ${allColumns.uncertainties} FROM uncertainties
     WHERE workspace_id = ? AND job_id = ? AND action_key = ? AND taken_at IS NULL
     ORDER BY uncertainty_id DESC LIMIT 1`,
    [workspaceId, jobId, actionKey],
  );
}

const anyUncertainty: KeptRead = {
  sql: 'SELECT 1 FROM uncertainties WHERE workspace_id = ? LIMIT 1',
  sources: ['uncertainties'],
};

/** The open questions of a job. */
export async function listOpenOfJob(
  reader: Reader,
  workspaceId: string,
  jobId: string,
): Promise<UncertaintyRow[]> {
  if (await isKnownEmpty(reader, anyUncertainty, [workspaceId])) return [];
  return reader.allSql<UncertaintyRow>(
    `SELECT ${allColumns.uncertainties} FROM uncertainties
     WHERE workspace_id = ? AND job_id = ? AND status = 'open'
     ORDER BY uncertainty_id`,
    [workspaceId, jobId],
  );
}

/**
 * Writes that an answer is taken. The first one wins.
 *
 * @param agentId null: the job has ended, so that no agent takes it any more.
 */
export async function updateTaken(
  tx: Tx,
  row: UncertaintyRow,
  agentId: string | null,
): Promise<void> {
  await updateRows(
    tx,
    'uncertainties',
    { workspace_id: row.workspace_id, uncertainty_id: row.uncertainty_id, taken_at: null },
    { taken_at: tx.nowMs, taken_by_agent_id: agentId },
  );
}

/** Counts the open questions of sessions of a person, up to `countMax`. */
export async function countOfSessions(
  reader: Reader,
  workspaceId: string,
  personId: string,
  countMax: number,
): Promise<number> {
  const row = await reader.firstSql<{ open: number }>(
    `SELECT COUNT(*) AS open FROM (
       SELECT 1 FROM uncertainties WHERE workspace_id = ? AND requested_by = ?
         AND session IS NOT NULL AND status = 'open' LIMIT ?) AS few`,
    [workspaceId, personId, countMax],
  );
  return row?.open ?? 0;
}

/** Writes until when a session is taken to wait for an answer. */
export async function updateWaited(tx: Tx, row: UncertaintyKey, untilMs: number): Promise<void> {
  await updateRows(
    tx,
    'uncertainties',
    { ...keyOf(row), status: 'open' },
    { waited_until: untilMs },
  );
}

/** Open questions of all workspaces whose session does not wait any more. */
export function listAbandoned(
  reader: Reader,
  nowMs: number,
  limit: number,
): Promise<UncertaintyKey[]> {
  return reader.allSql(
    `SELECT workspace_id, uncertainty_id FROM uncertainties
     WHERE status = 'open' AND waited_until <= ? ORDER BY waited_until LIMIT ?`,
    [nowMs, limit],
  );
}

/** Overdue decision requests of all workspaces that resolve with their assumed value. */
export function listDueDecisions(
  reader: Reader,
  nowMs: number,
  limit: number,
): Promise<UncertaintyKey[]> {
  return reader.allSql(
    `SELECT workspace_id, uncertainty_id FROM uncertainties
     WHERE status = 'open' AND on_deadline = 'assume' AND deadline_at <= ?
     ORDER BY deadline_at LIMIT ?`,
    [nowMs, limit],
  );
}
