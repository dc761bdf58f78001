import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, insertRow, plus, sql, updateRows, upsertRow } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { JobLogMarksTable, JobLogsTable } from '../db/schema/jobs.ts';
import { KEY_OF_JOB } from './store-events.ts';

export type JobLogRow = JobLogsTable;
export type LogMark = Pick<JobLogMarksTable, 'line' | 'seq' | 'byte'>;

/** The log of an attempt. */
export interface LogRef {
  workspaceId: string;
  jobId: string;
  attempt: number;
}

/** A piece of output, as it was appended. */
export interface LogPiece {
  seq: number;
  at: number;
  message: string;
  data: string;
}

const valuesOf = ({ workspaceId, jobId, attempt }: LogRef) => [workspaceId, jobId, attempt];
const keyOf = ({ workspaceId, jobId, attempt }: LogRef) => ({
  workspace_id: workspaceId,
  job_id: jobId,
  attempt,
});
const OF_LOG = 'workspace_id = ? AND job_id = ? AND attempt = ?';

export function readJobLog(reader: Reader, ref: LogRef): Promise<JobLogRow | undefined> {
  return reader.firstSql<JobLogRow>(
    `SELECT ${allColumns.job_logs} FROM job_logs WHERE ${OF_LOG}`,
    valuesOf(ref),
  );
}

/** The logs of the latest attempts that have one, latest first. */
export function listJobLogs(
  reader: Reader,
  { workspaceId, jobId }: Omit<LogRef, 'attempt'>,
  limit: number,
): Promise<JobLogRow[]> {
  return reader.allSql<JobLogRow>(
    `SELECT ${allColumns.job_logs} FROM job_logs WHERE workspace_id = ? AND job_id = ?
     ORDER BY attempt DESC LIMIT ?`,
    [workspaceId, jobId, limit],
  );
}

/** Writes the size of a log, for the first time or again. */
export async function upsertJobLog(tx: Tx, row: JobLogRow): Promise<void> {
  await upsertRow(tx, 'job_logs', row, ['workspace_id', 'job_id', 'attempt']);
}

/** Pieces of output that follow those of a log. */
export interface LogGrowth {
  /** Numbers of the one who appends. */
  column: 'log_seq' | 'tool_log_seq';
  firstLogSeq: number;
  lastLogSeq: number;
  pieces: number;
  sizeBytes: number;
  lineFeeds: number;
  isLineOpen: boolean;
}

/**
 * Writes the size of a log that grows, in one statement, without reading the log.
 *
 * @param unmarked below which bytes and pieces since the last mark the pieces need no mark.
 * @returns false, and writes nothing, if there is no log yet, it has some of the pieces already, or
 *   they need a mark.
 */
export async function growJobLog(
  tx: Tx,
  ref: LogRef,
  growth: LogGrowth,
  unmarked: { bytes: number; pieces: number },
): Promise<boolean> {
  const { column, pieces, sizeBytes, firstLogSeq } = growth;
  const isUnmarked = sql(
    `${column} < ? AND unmarked_bytes < ? AND unmarked_pieces < ?`,
    firstLogSeq,
    unmarked.bytes,
    unmarked.pieces,
  );
  const changes = await updateRows(
    tx,
    'job_logs',
    { ...keyOf(ref), also: isUnmarked },
    {
      line_feeds: plus('line_feeds', growth.lineFeeds),
      size_bytes: plus('size_bytes', sizeBytes),
      is_line_open: growth.isLineOpen ? 1 : 0,
      last_at: tx.nowMs,
      unmarked_bytes: plus('unmarked_bytes', sizeBytes),
      unmarked_pieces: plus('unmarked_pieces', pieces),
      [column]: growth.lastLogSeq,
    },
  );
  return changes === 1;
}

export async function insertLogMark(tx: Tx, ref: LogRef, mark: LogMark): Promise<void> {
  insertRow(tx, 'job_log_marks', { ...keyOf(ref), ...mark });
}

/** The last mark with fewer line feeds before it, so that the start of a line lies behind it. */
export function findMarkBeforeLine(
  reader: Reader,
  ref: LogRef,
  lineFeeds: number,
): Promise<LogMark | undefined> {
  return reader.firstSql<LogMark>(
    `SELECT line, seq, byte FROM job_log_marks WHERE ${OF_LOG} AND line < ?
     ORDER BY line DESC, seq DESC LIMIT 1`,
    [...valuesOf(ref), lineFeeds],
  );
}

/** The last mark at a byte or before it. */
export function findMarkBeforeByte(
  reader: Reader,
  ref: LogRef,
  byte: number,
): Promise<LogMark | undefined> {
  return reader.firstSql<LogMark>(
    `SELECT line, seq, byte FROM job_log_marks WHERE ${OF_LOG} AND byte <= ?
     ORDER BY line DESC, seq DESC LIMIT 1`,
    [...valuesOf(ref), byte],
  );
}

/** Marks behind one, in order; without one, from the start of the log. */
export function listLogMarks(
  reader: Reader,
  ref: LogRef,
  after: Pick<LogMark, 'line' | 'seq'> | null,
  limit: number,
): Promise<LogMark[]> {
  const { line, seq } = after ?? { line: 0, seq: 0 };
  return reader.allSql<LogMark>(
    `SELECT line, seq, byte FROM job_log_marks WHERE ${OF_LOG} AND (line, seq) > (?, ?)
     ORDER BY line, seq LIMIT ?`,
    [...valuesOf(ref), line, seq, limit],
  );
}

/** The event before which the log surely ends: where the log of a later attempt begins. */
export async function readLogEnd(
  reader: Reader,
  { workspaceId, jobId, attempt }: LogRef,
): Promise<number> {
  const row = await reader.firstSql<{ seq: number }>(
    `SELECT seq FROM job_log_marks WHERE workspace_id = ? AND job_id = ? AND attempt > ?
     ORDER BY attempt, line, seq LIMIT 1`,
    [workspaceId, jobId, attempt],
  );
  return row?.seq ?? Number.MAX_SAFE_INTEGER;
}

/** Output has a number; other events of kind log, such as late results, have none. */
const OUTPUT_OF = `job_key = ${KEY_OF_JOB} AND seq >= ? AND seq < ? AND attempt = ?
  AND kind = 'log' AND substr(data, 1, 9) = '{"logSeq"'`;

const rangeOf = ({ workspaceId, jobId, attempt }: LogRef, from: number, until: number) => [
  workspaceId,
  jobId,
  from,
  until,
  attempt,
];

/** The output of a range of events, as one text. Three times as fast as reading the rows. */
export async function readLogText(
  reader: Reader,
  ref: LogRef,
  { seq, untilSeq }: { seq: number; untilSeq: number },
): Promise<string> {
  const row = await reader.firstSql<{ text: string | null }>(
    `SELECT string_agg(message, '') AS text FROM (
       SELECT message FROM job_events WHERE ${OUTPUT_OF} ORDER BY seq) AS pieces`,
    rangeOf(ref, seq, untilSeq),
  );
  return row?.text ?? '';
}

/** The output of a range of events, piece by piece. */
export function listLogPieces(
  reader: Reader,
  ref: LogRef,
  { seq, untilSeq }: { seq: number; untilSeq: number },
): Promise<LogPiece[]> {
  return reader.allSql<LogPiece>(
    `SELECT seq, at, message, data FROM job_events WHERE ${OUTPUT_OF} ORDER BY seq`,
    rangeOf(ref, seq, untilSeq),
  );
}

/** Notes where an event tells of an activity. */
export async function insertActivity(
  tx: Tx,
  ref: LogRef,
  { seq, line }: { seq: number; line: number },
): Promise<void> {
  insertRow(tx, 'job_activities', { ...keyOf(ref), seq, line });
}

/** A piece of a log that tells of an activity, with the line in which it begins. */
export type ActivityRow = Omit<LogPiece, 'message'> & { line: number };

export function listActivities(
  reader: Reader,
  ref: LogRef,
  { after, limit }: { after: number; limit: number },
): Promise<ActivityRow[]> {
  return reader.allSql(
    `SELECT a.seq, a.line, e.at, e.data FROM job_activities AS a
     JOIN job_events AS e ON e.job_key = ${KEY_OF_JOB} AND e.seq = a.seq
     WHERE a.workspace_id = ? AND a.job_id = ? AND a.attempt = ? AND a.seq > ?
     ORDER BY a.seq LIMIT ?`,
    [ref.workspaceId, ref.jobId, ...valuesOf(ref), after, limit],
  );
}

/** Deletes what is known about logs; their text goes with the timelines. */
export async function deleteJobLogs(
  tx: Tx,
  workspaceId: string,
  jobIds: readonly string[],
): Promise<void> {
  for (const table of ['job_log_marks', 'job_activities', 'job_logs'] as const) {
    await deleteRows(tx, table, { workspace_id: workspaceId, job_id: jobIds });
  }
}
