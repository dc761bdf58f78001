import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Job } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Reader } from '../db/engine.ts';
import { readEntry } from '../queue/store.ts';
import { type LogMark, type LogRef, listLogMarks, readLogEnd } from './store-log.ts';

/** Output between two marks. */
export interface LogSegment extends LogMark {
  /** The event behind the last one. */
  untilSeq: number;
}

/** A log to read. */
export interface ReadLogRef extends LogRef {
  /** No later attempt had begun, so the log ends with the timeline. */
  isLatest: boolean;
}

const MARKS_PAGE = 200;

/**
 * Finds the log that a request names: of the given attempt, or of the latest one.
 *
 * @throws HubError JOB_NOT_FOUND
 */
export async function requireLog(reader: Reader, wanted: WantedLog): Promise<FoundLog> {
  const found = await findLog(reader, wanted);
  if (found === null) throw new HubError('JOB_NOT_FOUND');
  return found;
}

interface WantedLog {
  workspaceId: string;
  jobId: string;
  attempt?: number;
}
type FoundLog = ReadLogRef & { isEnded: boolean };

/** The same, or null for a job that does not exist. */
export async function findLog(
  reader: Reader,
  { workspaceId, jobId, attempt }: WantedLog,
): Promise<FoundLog | null> {
  const entry = await readEntry(reader, workspaceId, jobId);
  if (entry === undefined || entry.queue !== 'jobs') return null;
  const wanted = attempt ?? entry.attempt;
  const status: Job['status'] = entry.status;
  const isCurrent = wanted === entry.attempt && status === 'running';
  const isToCome = wanted > entry.attempt || wanted === 0;
  const isLatest = wanted >= entry.attempt;
  return { workspaceId, jobId, attempt: wanted, isLatest, isEnded: !isCurrent && !isToCome };
}

/**
 * Walks the segments of a log, a bounded number of bytes each. Other requests have their turn
 * between two segments, since reads of SQLite never yield by themselves.
 *
 * @param first where to begin; undefined: at the start.
 */
export async function* walkLog(
  reader: Reader,
  ref: ReadLogRef,
  first: LogMark | undefined,
): AsyncGenerator<LogSegment> {
  const endSeq = ref.isLatest ? Number.MAX_SAFE_INTEGER : await readLogEnd(reader, ref);
  let last = first;
  for (;;) {
    const marks = await listLogMarks(reader, ref, last ?? null, MARKS_PAGE);
    for (const mark of marks) {
      if (last !== undefined) {
        yield { ...last, untilSeq: mark.seq };
        await nextTurn();
      }
      last = mark;
    }
    if (marks.length < MARKS_PAGE) break;
  }
  if (last !== undefined) yield { ...last, untilSeq: endSeq };
}

/** Joins neighboring segments, so that a long log takes fewer statements. */
export async function* joinSegments(
  segments: AsyncIterable<LogSegment>,
  countMax: number,
): AsyncGenerator<LogSegment> {
  let group: LogSegment[] = [];
  for await (const segment of segments) {
    group.push(segment);
    if (group.length < countMax) continue;
    yield joinGroup(group);
    group = [];
  }
  if (group.length > 0) yield joinGroup(group);
}

function joinGroup(group: readonly LogSegment[]): LogSegment {
  const [first] = group;
  const last = group.at(-1);
  if (first === undefined || last === undefined) throw new Error('a group has no segment');
  return { ...first, untilSeq: last.untilSeq };
}
