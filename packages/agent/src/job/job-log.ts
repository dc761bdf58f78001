import { open } from 'node:fs/promises';
import { type Activity, JOB_LOG_ENTRIES_MAX, type JobLogEntry } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import { parseObject } from '../executors/json-fields.ts';
import type { LogPart } from '../executors/log-part.ts';
import { openToolFile, ToolFileError } from '../process/tool-file.ts';
import { isDiskFull } from '../state-directory.ts';
import type { Redactor } from './redaction.ts';
import { SharedActivities } from './shared-activity.ts';

type LogStream = 'stdout' | 'stderr' | 'agent';

/**
 * The output of one attempt, buffered in a file until it is uploaded. If the hub is unavailable,
 * the output stays in the file: memory stays bounded and nothing is lost.
 */
export interface JobLog {
  /** Appends raw output. Resolves when more may be written. */
  write(stream: LogStream, text: string): Promise<void>;
  /** Appends text, with what its parts are about. */
  append(stream: LogStream, parts: readonly LogPart[]): Promise<void>;
  /** Appends a line from the agent itself. */
  note(message: string): Promise<void>;
  /** Writes everything that is left, including an unfinished line. Call it once. */
  close(): Promise<void>;
}

export interface JobLogOptions {
  file: string;
  redactor: Redactor;
  clock: Clock;
  /** Output beyond this many bytes is dropped, with a note. */
  bytesMax: number;
  /** Called when the file has grown. */
  onGrowth(): void;
}

/** Output that is not written yet. */
interface PendingPiece {
  stream: LogStream;
  text: string;
  /** The activity that its text is about. */
  activity?: Activity;
}

/** In JSON a control character takes six bytes: 32 Ki of them still fit into a request. */
const CHUNK_CHARS_MAX = 32_768;
/** A longer line is sent in parts. */
const LINE_CHARS_MAX = 16_384;
/** A beginning of a secret is held back no longer than this, escape sequences included. */
const HELD_CHARS_MAX = 65_536;
/** Lines within this time are written as one batch. */
const FLUSH_DELAY_MS = 200;
/** Bytes of entries in one request; the body's limit is 262,144. */
const BATCH_BYTES_MAX = 200_000;
const READ_BYTES = 512 * 1024;

export async function openJobLog(options: JobLogOptions): Promise<JobLog> {
  const { redactor } = options;
  const pieces = await openPieces(options);
  const activities = new SharedActivities(options);
  const unfinished: Record<LogStream, string> = { stdout: '', stderr: '', agent: '' };

  /**
   * Writes complete lines, and the beginning of a very long one. An end that may be the beginning
   * of a secret waits for what follows.
   */
  async function write(stream: LogStream, text: string): Promise<void> {
    const known = unfinished[stream] + text;
    const lines = endOfLines(known);
    const end = known.length - lines > LINE_CHARS_MAX ? known.length : lines;
    const safeEnd = redactor.safeEnd(known.slice(0, end), end === lines);
    const cut = end - safeEnd > HELD_CHARS_MAX ? end : safeEnd;
    unfinished[stream] = known.slice(cut);
    await pieces.put(stream, redactor.redact(known.slice(0, cut)));
  }

  async function writeUnfinished(stream: LogStream): Promise<void> {
    const text = unfinished[stream];
    unfinished[stream] = '';
    await pieces.put(stream, redactor.redact(text));
  }

  /** The text of an activity begins an entry, so that the hub knows in which line it is. */
  async function writeActivity(stream: LogStream, raw: Activity): Promise<void> {
    const activity = activities.share(raw);
    if (activity === undefined) return;
    // No secret is divided here: what follows begins on a line of its own, with a mark of the
    // reader, or is a message of the model behind the output of a tool.
    await writeUnfinished(stream);
    pieces.begin(stream, activity);
  }

  return {
    write,
    async append(stream, parts) {
      for (const { text, activity } of parts) {
        if (activity !== undefined) await writeActivity(stream, activity);
        await write(stream, text);
      }
    },
    note: (message) => write('agent', `${message}\n`),
    async close() {
      for (const stream of ['stdout', 'stderr', 'agent'] as const) await writeUnfinished(stream);
      await pieces.close();
    },
  };
}

/** Writes entries to the file of a log. Text of one stream within a short time is one entry. */
async function openPieces({ file: path, clock, bytesMax, onGrowth }: JobLogOptions) {
  const file = await open(path, 'a', 0o600);
  let { size: sizeBytes } = await file.stat();
  let pending: PendingPiece = { stream: 'agent', text: '' };
  let lastLogSeq = 0;
  let bytesWritten = 0;
  let isFull = false;
  let timer: AbortController | null = null;
  let appended: Promise<void> = Promise.resolve();

  function flush(): Promise<void> {
    timer?.abort();
    timer = null;
    const { stream, text, activity } = pending;
    pending = { stream, text: '' };
    if (text === '' && activity === undefined) return appended;
    const at = new Date(clock.nowMs()).toISOString();
    const lines = splitChunks(text).map((message, index) => {
      lastLogSeq += 1;
      const about = index === 0 && activity !== undefined ? { activity } : {};
      const entry = { logSeq: lastLogSeq, message, stream, at, ...about } satisfies JobLogEntry;
      return `${JSON.stringify(entry)}\n`;
    });
    appended = appended.then(() => append(lines.join(''))).then(onGrowth);
    // The next write or close awaits this promise and gets its error, so it is never unhandled.
    appended.catch(() => {});
    return appended;
  }

  /** A tool may have filled the disk: its job ends without these lines, and not the agent. */
  async function append(text: string): Promise<void> {
    try {
      await file.appendFile(text);
      sizeBytes += Buffer.byteLength(text);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      // Lines after the beginning of another one could not be read.
      await file.truncate(sizeBytes);
    }
  }

  function flushSoon(): void {
    if (timer !== null) return;
    const mine = new AbortController();
    timer = mine;
    void clock.sleep(FLUSH_DELAY_MS, mine.signal).then(() => {
      if (!mine.signal.aborted) void flush();
    });
  }

  return {
    async put(stream: LogStream, text: string): Promise<void> {
      if (text === '' || isFull) return;
      // Two streams write alternately: there must be no await between checking and extending
      // `pending`.
      if (pending.stream !== stream) void flush();
      bytesWritten += Buffer.byteLength(text);
      isFull = bytesWritten > bytesMax;
      const cut = isFull ? `\n[output beyond ${bytesMax} bytes is not kept]\n` : '';
      pending = { ...pending, stream, text: pending.text + text + cut };
      if (pending.text.length >= CHUNK_CHARS_MAX) void flush();
      else flushSoon();
      await appended;
    },
    /** Begins an entry: the text that follows is about an activity. */
    begin(stream: LogStream, activity: Activity): void {
      void flush();
      pending = { stream, text: '', activity };
      flushSoon();
    },
    async close(): Promise<void> {
      await flush();
      await file.close();
    },
  };
}

/** The offset after the last line feed or carriage return (progress bars redraw with those). */
function endOfLines(text: string): number {
  return Math.max(text.lastIndexOf('\n'), text.slice(0, -1).lastIndexOf('\r')) + 1;
}

/**
 * Splits text into chunks that the hub accepts: no NUL, no split surrogate pairs, and where
 * possible cut at line ends.
 */
function splitChunks(text: string): string[] {
  let rest = text.replaceAll('\0', '\uFFFD').toWellFormed();
  const chunks: string[] = [];
  while (rest.length > CHUNK_CHARS_MAX) {
    const lineEnd = rest.lastIndexOf('\n', CHUNK_CHARS_MAX - 1) + 1;
    let end = lineEnd > 0 ? lineEnd : CHUNK_CHARS_MAX;
    const next = rest.charCodeAt(end);
    if (next >= 0xdc00 && next <= 0xdfff) end -= 1;
    chunks.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  if (rest !== '' || chunks.length === 0) chunks.push(rest);
  return chunks;
}

export interface LogBatch {
  entries: JobLogEntry[];
  /** Byte offset of the next batch. */
  nextOffset: number;
}

/** Reads as many entries from an offset of a log file as fit into one request. */
export async function readLogBatch(logFile: string, offset: number): Promise<LogBatch> {
  const buffer = Buffer.alloc(READ_BYTES);
  const bytes = await readAt(logFile, buffer, offset);
  const batch: LogBatch = { entries: [], nextOffset: offset };
  let from = 0;
  while (batch.entries.length < JOB_LOG_ENTRIES_MAX) {
    const end = buffer.subarray(0, bytes).indexOf('\n', from);
    // A last line without its line feed is still being written, or was when the agent was killed.
    if (end < 0 || (batch.entries.length > 0 && end > BATCH_BYTES_MAX)) break;
    const entry = parseObject(buffer.toString('utf8', from, end));
    // Only a tool that writes into the agent's directory makes such a line; the log ends there.
    if (entry === null) break;
    // Every other line was written by `openJobLog`, and the hub checks it.
    batch.entries.push(entry as unknown as JobLogEntry);
    from = end + 1;
  }
  batch.nextOffset = offset + from;
  return batch;
}

async function readAt(file: string, buffer: Buffer, offset: number): Promise<number> {
  try {
    const handle = await openToolFile(file);
    if (handle === null) return 0;
    try {
      return (await handle.read(buffer, 0, buffer.length, offset)).bytesRead;
    } finally {
      await handle.close();
    }
  } catch (error) {
    // A tool of the agent's own user can replace the file: the rest of its output is lost.
    if (error instanceof ToolFileError) return 0;
    throw error;
  }
}
