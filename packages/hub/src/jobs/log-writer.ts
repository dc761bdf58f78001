import { ACTIVITIES_MAX, type Activity } from '@signalbox/contract';
import type { Tx } from '../db/engine.ts';
import type { Entry } from '../queue/entry.ts';
import { type JobEventDraft, recordJobEvent, recordJobEventForSeq } from './store-events.ts';
import {
  growJobLog,
  insertActivity,
  insertLogMark,
  type JobLogRow,
  type LogGrowth,
  type LogRef,
  readJobLog,
  upsertJobLog,
} from './store-log.ts';

/**
 * Output between two marks. A reader passes over half of it to find a line, and a search reads it
 * in one statement, so it takes a millisecond at most.
 */
const MARK_BYTES = 65_536;
const MARK_PIECES = 500;
/**
 * Text of one attempt: far more than a person reads. Otherwise a tool that prints without end would
 * fill the disk of all workspaces. Checked when a mark is due, so a log may be a little longer.
 */
export const LOG_BYTES_MAX = 1_073_741_824;
const FULL_NOTICE = '\n[The log of this attempt is full. The hub keeps no further output of it.]\n';
/** The unmarked pieces of a full log, so that a mark is always due and the log is looked at. */
const FULL_LOG_PIECES = 1_000_000_000;

/** A piece of output to append. */
export interface OutputPiece {
  logSeq: number;
  message: string;
  /** Fields of the event beside the number. */
  data: Record<string, unknown>;
  /** The activity that its text is about. */
  activity?: Activity;
}

/**
 * Appends output to the log of the running attempt, and marks places in it. Skips pieces that are
 * already there: only a number above the last one is new. Drops those of a full log.
 *
 * @param pieces in the order of their numbers.
 * @param column numbers of the one who appends: the agent and the tool number each for themselves.
 */
export async function appendOutput(
  tx: Tx,
  entry: Entry,
  pieces: readonly OutputPiece[],
  column: LogGrowth['column'],
): Promise<{ appended: number; lastLogSeq: number }> {
  const growth = growthBy(pieces, column);
  if (growth !== null && (await growsWithoutMark(tx, entry, pieces, growth))) {
    for (const piece of pieces) recordJobEvent(tx, entry, eventOf(piece));
    return { appended: pieces.length, lastLogSeq: growth.lastLogSeq };
  }
  const log = (await readJobLog(tx, refOf(entry))) ?? emptyLog(entry, tx.nowMs);
  let appended = 0;
  for (const piece of pieces) {
    if (piece.logSeq <= log[column]) continue;
    if (log.size_bytes < LOG_BYTES_MAX) await appendPiece(tx, entry, log, piece);
    else if (log.unmarked_pieces < FULL_LOG_PIECES) {
      const notice = { message: FULL_NOTICE, data: { stream: 'agent' } };
      await appendPiece(tx, entry, log, { logSeq: piece.logSeq, ...notice });
      log.unmarked_pieces = FULL_LOG_PIECES;
    }
    log[column] = piece.logSeq;
    appended += 1;
  }
  if (appended > 0) await upsertJobLog(tx, { ...log, last_at: tx.nowMs });
  return { appended, lastLogSeq: log[column] };
}

/**
 * The growth of a log by some pieces; null if some have the same number, there is no text, or one
 * tells of an activity: that needs to know its line.
 */
function growthBy(
  pieces: readonly OutputPiece[],
  column: LogGrowth['column'],
): (LogGrowth & { lastBytes: number }) | null {
  const [first] = pieces;
  if (first === undefined) return null;
  const growth = {
    column,
    firstLogSeq: first.logSeq,
    lastLogSeq: 0,
    pieces: pieces.length,
    sizeBytes: 0,
    lastBytes: 0,
    lineFeeds: 0,
    isLineOpen: false,
  };
  for (const { logSeq, message, activity } of pieces) {
    if (logSeq <= growth.lastLogSeq || activity !== undefined) return null;
    growth.lastLogSeq = logSeq;
    growth.lastBytes = Buffer.byteLength(message);
    growth.sizeBytes += growth.lastBytes;
    growth.lineFeeds += countLineFeeds(message);
    if (message !== '') growth.isLineOpen = !message.endsWith('\n');
  }
  return growth.sizeBytes === 0 ? null : growth;
}

/** Writes the size of the log for new pieces if none needs a mark before it, as most do not. */
function growsWithoutMark(
  tx: Tx,
  entry: Entry,
  pieces: readonly OutputPiece[],
  growth: LogGrowth & { lastBytes: number },
): Promise<boolean> {
  return growJobLog(tx, refOf(entry), growth, {
    bytes: MARK_BYTES - (growth.sizeBytes - growth.lastBytes),
    pieces: MARK_PIECES - (pieces.length - 1),
  });
}

async function appendPiece(
  tx: Tx,
  entry: Entry,
  log: JobLogRow,
  piece: OutputPiece,
): Promise<void> {
  const isMarked = log.unmarked_bytes >= MARK_BYTES || log.unmarked_pieces >= MARK_PIECES;
  const isKept = piece.activity !== undefined && log.activities < ACTIVITIES_MAX;
  const event = eventOf(piece, isKept);
  if (!isMarked && !isKept) recordJobEvent(tx, entry, event);
  else {
    const seq = await recordJobEventForSeq(tx, entry, event);
    if (isMarked) await markLog(tx, entry, log, seq);
    if (isKept) {
      await insertActivity(tx, refOf(entry), { seq, line: log.line_feeds + 1 });
      log.activities += 1;
    }
  }
  const { message } = piece;
  const sizeBytes = Buffer.byteLength(message);
  log.line_feeds += countLineFeeds(message);
  log.size_bytes += sizeBytes;
  log.unmarked_bytes += sizeBytes;
  log.unmarked_pieces += 1;
  if (message !== '') log.is_line_open = message.endsWith('\n') ? 0 : 1;
}

async function markLog(tx: Tx, entry: Entry, log: JobLogRow, seq: number): Promise<void> {
  await insertLogMark(tx, refOf(entry), { line: log.line_feeds, byte: log.size_bytes, seq });
  log.unmarked_bytes = 0;
  log.unmarked_pieces = 0;
}

function eventOf(piece: OutputPiece, hasActivity = false): JobEventDraft {
  const { logSeq, message, data, activity } = piece;
  // `logSeq` comes first: by this, readers tell output from other events of kind log.
  return { kind: 'log', message, data: { logSeq, ...data, ...(hasActivity && { activity }) } };
}

function refOf({ workspace_id, entry_id, attempt }: Entry): LogRef {
  return { workspaceId: workspace_id, jobId: entry_id, attempt };
}

/** A log without text. Its first piece gets a mark. */
function emptyLog({ workspace_id, entry_id: job_id, attempt }: Entry, nowMs: number): JobLogRow {
  return {
    workspace_id,
    job_id,
    attempt,
    line_feeds: 0,
    size_bytes: 0,
    is_line_open: 0,
    first_at: nowMs,
    last_at: nowMs,
    unmarked_bytes: MARK_BYTES,
    unmarked_pieces: 0,
    log_seq: 0,
    tool_log_seq: 0,
    activities: 0,
  };
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
