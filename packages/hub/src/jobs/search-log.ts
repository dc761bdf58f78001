import {
  type AnswerOf,
  type endpoints,
  LOG_EXCERPT_CHARS_MAX,
  type RequestInput,
} from '@signalbox/contract';
import type { RequestContext } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { findMarkBeforeLine, readLogText } from './store-log.ts';
import { findLog, joinSegments, type ReadLogRef, requireLog, walkLog } from './walk-log.ts';

type SearchInput = RequestInput<typeof endpoints.jobs.searchLog.request>;
type SearchAnswer = AnswerOf<typeof endpoints.jobs.searchLog>;
type LogMatch = SearchAnswer['matches'][number];

/** Text that one call reads at most, less than a second's work; the caller continues. */
const SEARCHED_CHARS_MAX = 32 * 1_024 * 1_024;
/** Text of the logs of many jobs that one page of a list reads. */
const PAGE_CHARS_MAX = 8 * 1_024 * 1_024;
/** Segments of 64 KB that are searched in one turn of the event loop: a few milliseconds. */
const JOINED_SEGMENTS = 8;
/** A line without an end is searched in parts of this many characters. */
const PART_CHARS_MAX = 256 * 1_024;
/** Parts overlap by this much: more than a text to search with colors between its letters. */
const OVERLAP_CHARS = 8_192;
const CHARS_BEFORE_MATCH = 100;

/**
 * Searches a log for lines that contain a text, in bounded time.
 *
 * @throws HubError JOB_NOT_FOUND
 */
export async function searchLog(
  { database: { reader } }: HubDeps,
  { signal }: Pick<RequestContext, 'signal'>,
  input: SearchInput,
): Promise<SearchAnswer> {
  const ref = await requireLog(reader, input);
  const { matches, nextLine } = await searchLines(reader, ref, input, signal);
  return { attempt: ref.attempt, matches, nextLine };
}

/**
 * Keeps the jobs whose latest log contains a text, up to a limit. What one call reads is bounded:
 * it ends behind the log in which it has read PAGE_CHARS_MAX.
 *
 * @param ids of jobs of one workspace.
 * @returns the kept ids in their order, and how many ids were examined.
 */
export async function keepByLog(
  { database: { reader } }: HubDeps,
  { signal }: Pick<RequestContext, 'signal'>,
  { workspaceId, ids, text, limit }: KeepInput,
): Promise<{ kept: string[]; examined: number }> {
  const kept: string[] = [];
  let readChars = 0;
  let examined = 0;
  for (const jobId of ids) {
    if (kept.length === limit || readChars >= PAGE_CHARS_MAX) break;
    examined += 1;
    const ref = await findLog(reader, { workspaceId, jobId });
    // Deleted by retention since the list was read.
    if (ref === null) continue;
    const found = await searchLines(reader, ref, { text, fromLine: 1, limit: 1 }, signal);
    if (found.matches.length > 0) kept.push(jobId);
    readChars += found.searchedChars;
  }
  return { kept, examined };
}

interface KeepInput {
  workspaceId: string;
  ids: readonly string[];
  text: string;
  limit: number;
}

/** Searches at most SEARCHED_CHARS_MAX. `nextLine` is null at the end of the log. */
async function searchLines(
  reader: Reader,
  ref: ReadLogRef,
  { text, fromLine, limit }: Pick<SearchInput, 'text' | 'fromLine' | 'limit'>,
  signal: AbortSignal,
): Promise<{ matches: LogMatch[]; nextLine: number | null; searchedChars: number }> {
  let searchedChars = 0;
  // No line contains a line feed.
  if (text.includes('\n')) return { matches: [], nextLine: null, searchedChars };
  const mark = await findMarkBeforeLine(reader, ref, fromLine - 1);
  const search = new LineSearch(text, fromLine, limit);
  search.line = mark?.line ?? 0;
  const segments = walkLog(reader, ref, mark);
  for await (const segment of joinSegments(segments, JOINED_SEGMENTS)) {
    // A mark may lie within a line: the next call begins with that line again.
    if (searchedChars >= SEARCHED_CHARS_MAX && segment.line + 1 > fromLine) {
      return { matches: search.matches, nextLine: segment.line + 1, searchedChars };
    }
    search.line = segment.line;
    const part = await readLogText(reader, ref, segment);
    searchedChars += part.length;
    search.add(part);
    if (search.isFull) break;
    signal.throwIfAborted();
  }
  search.finish();
  const last = search.matches.at(-1);
  const nextLine = search.isFull && last !== undefined ? last.line + 1 : null;
  return { matches: search.matches, nextLine, searchedChars };
}

/** Finds lines in pieces of text that end anywhere. */
class LineSearch {
  readonly matches: LogMatch[] = [];
  /** Line feeds before the next piece of text, without those of the rest. */
  line = 0;
  readonly #needle: string;
  readonly #from: number;
  readonly #limit: number;
  /** The open line, as far as it was not searched, or its last part. */
  #rest = '';

  constructor(text: string, from: number, limit: number) {
    this.#needle = foldCase(text);
    this.#from = from;
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.matches.length >= this.#limit;
  }

  add(text: string): void {
    const known = this.#rest + text;
    const end = known.lastIndexOf('\n') + 1;
    this.#rest = known.slice(end);
    const feeds = this.#search(known.slice(0, end), this.line);
    if (this.#rest.length > PART_CHARS_MAX) {
      this.#search(this.#rest, this.line + feeds);
      this.#rest = this.#rest.slice(-OVERLAP_CHARS);
    }
    this.line += feeds;
  }

  finish(): void {
    this.#search(this.#rest, this.line);
  }

  /** Adds the matches of whole lines. @returns how many line feeds the text has. */
  #search(text: string, line: number): number {
    const visible = withoutControls(text);
    const folded = foldCase(visible);
    let counted = 0;
    let feeds = 0;
    const countUntil = (position: number) => {
      for (let at = visible.indexOf('\n', counted); at >= 0 && at < position; ) {
        feeds += 1;
        counted = at + 1;
        at = visible.indexOf('\n', counted);
      }
    };
    let at = folded.indexOf(this.#needle);
    while (at >= 0 && !this.isFull) {
      countUntil(at);
      const number = line + feeds + 1;
      const end = visible.indexOf('\n', at);
      const isKnown = this.matches.at(-1)?.line === number;
      if (number >= this.#from && !isKnown) {
        this.matches.push({ line: number, text: excerptOf(visible, at, end) });
      }
      if (end < 0) break;
      at = folded.indexOf(this.#needle, end);
    }
    countUntil(visible.length);
    return feeds;
  }
}

function excerptOf(text: string, at: number, end: number): string {
  const lineStart = text.lastIndexOf('\n', at) + 1;
  const start = Math.max(lineStart, at - CHARS_BEFORE_MATCH);
  const until = Math.min(end < 0 ? text.length : end, start + LOG_EXCERPT_CHARS_MAX);
  return text.slice(start, until).toWellFormed();
}

/** Lower case of the same length, so that positions stay: only this letter becomes longer. */
function foldCase(text: string): string {
  return text.replaceAll('\u0130', 'i').toLowerCase();
}

const colorOrMove = String.raw`\[[0-?]*[ -/]*[@-~]`;
const titleOrLink = String.raw`\][^\x07\x1b\n]*(?:\x07|\x1b\\)`;
const otherSequence = '[ -/]*[0-~]?';
/**
 * Escape sequences, within a line. Takes linear time for any text; `stripVTControlCharacters` takes
 * minutes for 300 KB of opened links, and passes over line ends.
 */
const control = new RegExp(`\x1b(?:${colorOrMove}|${titleOrLink}|${otherSequence})`, 'g');

function withoutControls(text: string): string {
  return text.includes('\u001b') ? text.replace(control, '') : text;
}
