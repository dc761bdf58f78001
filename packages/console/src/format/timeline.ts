import type { JobEvent } from '@signalbox/contract';

/** One thing that the timeline shows. */
export type TimelineEntry =
  | { type: 'event'; event: JobEvent }
  | { type: 'heartbeats'; id: string; count: number; lastAt: string }
  | {
      type: 'output';
      id: string;
      firstAt: string;
      lastAt: string;
      text: string;
      skippedChars: number;
    };

/** What happened while one agent held the job; attempt 0 is what came before any did. */
export interface TimelineAttempt {
  attempt: number;
  agentId: string | null;
  entries: TimelineEntry[];
}

/** Output beyond this is cut at the front: the end is what people look for. */
const OUTPUT_CHARS_MAX = 1_000_000;

/**
 * The events of a job, folded for reading: by attempt; all output of an attempt in one block,
 * because agents cut it anywhere; all heartbeats without a message in one entry. Events come in
 * the order of `seq`.
 */
export function foldEvents(events: readonly JobEvent[]): TimelineAttempt[] {
  const attempts: TimelineAttempt[] = [];
  for (const event of events) {
    let current = attempts.at(-1);
    if (!current || current.attempt !== event.attempt) {
      current = { attempt: event.attempt, agentId: null, entries: [] };
      attempts.push(current);
    }
    current.agentId ??= event.agentId;
    addEvent(current.entries, event);
  }
  for (const { entries } of attempts) entries.forEach(cutOutput);
  return attempts;
}

function addEvent(entries: TimelineEntry[], event: JobEvent): void {
  if (event.kind === 'log' && !isLate(event)) addOutput(entries, event);
  else if (event.kind === 'heartbeat' && !event.message) addHeartbeat(entries, event);
  else entries.push({ type: 'event', event });
}

/** Evidence that came from an attempt which had lost the job by then. */
export function isLate(event: JobEvent): boolean {
  return event.data?.late === true;
}

function addOutput(entries: TimelineEntry[], event: JobEvent): void {
  const text = event.data?.stream === 'agent' ? dim(event.message ?? '') : (event.message ?? '');
  const block = entries.find((entry) => entry.type === 'output');
  if (block) {
    block.text += text;
    block.lastAt = event.at;
    return;
  }
  entries.push({
    type: 'output',
    id: event.eventId,
    firstAt: event.at,
    lastAt: event.at,
    text,
    skippedChars: 0,
  });
}

/** The agent's own lines stand back behind the tool's, in the terminal's own language. */
function dim(text: string): string {
  return `\u001b[0;2m${text}\u001b[0m`;
}

function addHeartbeat(entries: TimelineEntry[], event: JobEvent): void {
  const count = typeof event.data?.count === 'number' ? event.data.count : 1;
  const folded = entries.find((entry) => entry.type === 'heartbeats');
  if (folded) {
    folded.count += count;
    folded.lastAt = event.at;
    return;
  }
  entries.push({ type: 'heartbeats', id: event.eventId, count, lastAt: event.at });
}

function cutOutput(entry: TimelineEntry): void {
  if (entry.type !== 'output' || entry.text.length <= OUTPUT_CHARS_MAX) return;
  const cut = entry.text.length - OUTPUT_CHARS_MAX;
  const lineEnd = entry.text.indexOf('\n', cut);
  const start = lineEnd === -1 || lineEnd - cut > 10_000 ? cut : lineEnd + 1;
  entry.skippedChars = start;
  entry.text = entry.text.slice(start);
}
