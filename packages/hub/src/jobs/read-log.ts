import {
  type AnswerOf,
  type endpoints,
  LOG_ATTEMPTS_MAX,
  LOG_LINE_CHARS_MAX,
  type RequestInput,
} from '@signalbox/contract';
import { timestampOf } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Reader } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import {
  findMarkBeforeByte,
  findMarkBeforeLine,
  type JobLogRow,
  type LogMark,
  type LogPiece,
  listJobLogs,
  listLogPieces,
  readJobLog,
} from './store-log.ts';
import { type ReadLogRef, requireLog, walkLog } from './walk-log.ts';

type LogInput = RequestInput<typeof endpoints.jobs.log.request>;
type LogAnswer = AnswerOf<typeof endpoints.jobs.log>;
type LogLine = LogAnswer['lines'][number];

/** A page ends after this many characters of text, however many lines were asked for. */
const PAGE_CHARS_MAX = 500_000;

/**
 * Reads a page of the lines of a log.
 *
 * @throws HubError JOB_NOT_FOUND, INVALID_REQUEST
 */
export async function readLog(
  { database: { reader } }: HubDeps,
  input: LogInput,
): Promise<LogAnswer> {
  const { fromLine, fromByte, limit } = input;
  if (fromLine !== undefined && fromByte !== undefined) {
    throw new HubError('INVALID_REQUEST', 'Send fromLine or fromByte, not both.');
  }
  const { isEnded, ...ref } = await requireLog(reader, input);
  const logs = await listJobLogs(reader, ref, LOG_ATTEMPTS_MAX);
  const log =
    logs.find(({ attempt }) => attempt === ref.attempt) ??
    (logs.length < LOG_ATTEMPTS_MAX ? undefined : await readJobLog(reader, ref));
  const known = linesOf(log);
  const from =
    fromByte === undefined
      ? (fromLine ?? Math.max(1, known - limit + 1))
      : await findLineOfByte(reader, ref, fromByte);
  const lines = log === undefined ? [] : await readLines(reader, ref, from, limit);
  const last = lines.at(-1)?.line ?? 0;
  return {
    attempt: ref.attempt,
    attempts: logs.reverse().map(presentLog),
    // More may have arrived between the statements.
    totalLines: Math.max(known, last),
    sizeBytes: log?.size_bytes ?? 0,
    isEnded,
    lines,
    nextLine: last === 0 ? from : last + 1,
  };
}

function linesOf(log: JobLogRow | undefined): number {
  return log === undefined ? 0 : log.line_feeds + log.is_line_open;
}

function presentLog(log: JobLogRow): LogAnswer['attempts'][number] {
  return {
    attempt: log.attempt,
    lines: linesOf(log),
    sizeBytes: log.size_bytes,
    firstAt: timestampOf(log.first_at),
    lastAt: timestampOf(log.last_at),
  };
}

/** The line that contains a byte; behind the end, the line after the last one. */
async function findLineOfByte(reader: Reader, ref: ReadLogRef, byte: number): Promise<number> {
  const mark = await findMarkBeforeByte(reader, ref, byte);
  if (mark === undefined) return 1;
  let { byte: at, line } = mark;
  for await (const segment of walkLog(reader, ref, mark)) {
    for (const { message } of await listLogPieces(reader, ref, segment)) {
      const bytes = Buffer.from(message, 'utf8');
      const before = at + bytes.length > byte ? bytes.subarray(0, byte - at) : bytes;
      for (let end = before.indexOf(10); end >= 0; end = before.indexOf(10, end + 1)) line += 1;
      at += bytes.length;
      if (at > byte) return line + 1;
    }
  }
  return line + 1;
}

async function readLines(
  reader: Reader,
  ref: ReadLogRef,
  from: number,
  limit: number,
): Promise<LogLine[]> {
  const page = new LinePage(from, limit);
  let mark = await findMarkBeforeLine(reader, ref, from - 1);
  do {
    page.line = mark?.line ?? 0;
    mark = await fillPage(reader, ref, page, mark);
  } while (mark !== undefined);
  page.finish();
  return page.lines;
}

/** @returns where to continue, if the rest of a very long line is skipped instead of read. */
async function fillPage(
  reader: Reader,
  ref: ReadLogRef,
  page: LinePage,
  start: LogMark | undefined,
): Promise<LogMark | undefined> {
  for await (const segment of walkLog(reader, ref, start)) {
    for (const piece of await listLogPieces(reader, ref, segment)) {
      page.add(piece);
      if (page.isFull) return undefined;
    }
    if (!page.isCut) continue;
    const next = await findMarkBeforeLine(reader, ref, page.line + 1);
    if (next !== undefined && next.seq >= segment.untilSeq) return next;
  }
  return undefined;
}

/** Collects the lines of a page from pieces of text that end anywhere. */
class LinePage {
  readonly lines: LogLine[] = [];
  /** Line feeds so far: the number of the line that is open, less one. */
  line = 0;
  readonly #from: number;
  readonly #limit: number;
  #open: LogLine | null = null;
  #chars = 0;

  constructor(from: number, limit: number) {
    this.#from = from;
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.lines.length >= this.#limit || this.#chars >= PAGE_CHARS_MAX;
  }

  /** Whether the open line is longer than a line of a page may be. */
  get isCut(): boolean {
    return this.#open?.cut === true;
  }

  add(piece: LogPiece): void {
    const { message } = piece;
    for (let start = 0; start < message.length; ) {
      const end = message.indexOf('\n', start);
      this.#extend(piece, message.slice(start, end < 0 ? undefined : end));
      if (end < 0) return;
      this.#endLine();
      if (this.isFull) return;
      start = end + 1;
    }
  }

  /** Adds the last line, which has no line feed yet. */
  finish(): void {
    if (this.#open !== null && !this.isFull) this.#endLine();
  }

  #extend({ at, data }: LogPiece, text: string): void {
    if (this.line < this.#from - 1) return;
    this.#open ??= { line: this.line + 1, ...originOf(at, data), text: '' };
    const open = this.#open;
    if (open.cut) return;
    open.text += text;
    if (open.text.length <= LOG_LINE_CHARS_MAX) return;
    open.text = open.text.slice(0, LOG_LINE_CHARS_MAX).toWellFormed();
    open.cut = true;
  }

  #endLine(): void {
    if (this.#open !== null) {
      this.#chars += this.#open.text.length;
      this.lines.push(this.#open);
      this.#open = null;
    }
    this.line += 1;
  }
}

/** Time and stream of a piece. Its data passed the contract's schema when it was appended. */
function originOf(at: number, data: string): Pick<LogLine, 'at' | 'stream'> {
  const { stream, at: ownAt } = JSON.parse(data) as Pick<LogLine, 'stream'> & { at?: string };
  return { at: ownAt ?? timestampOf(at), ...(stream === undefined ? {} : { stream }) };
}
