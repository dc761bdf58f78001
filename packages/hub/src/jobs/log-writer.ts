import type { Tx } from '../db/engine.ts';
import type { Entry } from '../queue/entry.ts';
import { recordJobEvent, recordJobEventForSeq } from './store-events.ts';
import {
  insertLogMark,
  type JobLogRow,
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

/** The agent and the tool of a job number what they append each for themselves. */
type LogSeqColumn = 'log_seq' | 'tool_log_seq';

/** Appends output to the log of the running attempt, and marks places in it. */
export class LogWriter {
  readonly #tx: Tx;
  readonly #entry: Entry;
  readonly #log: JobLogRow;
  readonly #column: LogSeqColumn;

  private constructor(tx: Tx, entry: Entry, log: JobLogRow, column: LogSeqColumn) {
    this.#tx = tx;
    this.#entry = entry;
    this.#log = log;
    this.#column = column;
  }

  /** @param column numbers of the one who appends. */
  static async open(tx: Tx, entry: Entry, column: LogSeqColumn): Promise<LogWriter> {
    const log = await readJobLog(tx, refOf(entry));
    return new LogWriter(tx, entry, log ?? emptyLog(entry, tx.nowMs), column);
  }

  /** The highest number that was appended. */
  get lastLogSeq(): number {
    return this.#log[this.#column];
  }

  async append(message: string, data: { logSeq: number; [name: string]: unknown }): Promise<void> {
    const log = this.#log;
    const event = { kind: 'log', message, data } as const;
    if (log.unmarked_bytes < MARK_BYTES && log.unmarked_pieces < MARK_PIECES) {
      await recordJobEvent(this.#tx, this.#entry, event);
    } else {
      const seq = await recordJobEventForSeq(this.#tx, this.#entry, event);
      const mark = { line: log.line_feeds, byte: log.size_bytes, seq };
      await insertLogMark(this.#tx, refOf(this.#entry), mark);
      log.unmarked_bytes = 0;
      log.unmarked_pieces = 0;
    }
    const sizeBytes = Buffer.byteLength(message);
    log.line_feeds += countLineFeeds(message);
    log.size_bytes += sizeBytes;
    log.unmarked_bytes += sizeBytes;
    log.unmarked_pieces += 1;
    log[this.#column] = data.logSeq;
    if (message !== '') log.is_line_open = message.endsWith('\n') ? 0 : 1;
  }

  /** Writes the size of the log. Call it once, after the last `append`. */
  async close(): Promise<void> {
    this.#log.last_at = this.#tx.nowMs;
    await upsertJobLog(this.#tx, this.#log);
  }
}

function refOf({ workspace_id, entry_id, attempt }: Entry): LogRef {
  return { workspaceId: workspace_id, jobId: entry_id, attempt };
}

/** A log without text. Its first piece gets a mark. */
function emptyLog({ workspace_id, entry_id: job_id, attempt }: Entry, nowMs: number): JobLogRow {
  return {
    ...{ workspace_id, job_id, attempt },
    line_feeds: 0,
    size_bytes: 0,
    is_line_open: 0,
    first_at: nowMs,
    last_at: nowMs,
    unmarked_bytes: MARK_BYTES,
    unmarked_pieces: 0,
    log_seq: 0,
    tool_log_seq: 0,
  };
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
