import type { JobEvent } from '@signalbox/contract';

/** One entry of the timeline. */
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

/**
 * The events while one agent held the job. Attempt 0 contains the events before the first claim.
 */
export interface TimelineAttempt {
  attempt: number;
  agentId: string | null;
  entries: TimelineEntry[];
}

/** Limit of shown output; its beginning is cut, because people usually look for the end. */
const OUTPUT_CHARS_MAX = 1_000_000;

/**
 * Folds the events of a job for display: grouped by attempt, with one block for all output of an
 * attempt (agents split it anywhere) and one entry for all heartbeats without a message. Expects
 * events in the order of `seq`.
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
  for (const { entries } of attempts) {
    placeHeartbeats(entries);
    entries.forEach(cutOutput);
  }
  return attempts;
}

function addEvent(entries: TimelineEntry[], event: JobEvent): void {
  if (event.kind === 'log' && !isLate(event)) addOutput(entries, event);
  else if (event.kind === 'heartbeat' && !event.message) addHeartbeat(entries, event);
  else entries.push({ type: 'event', event });
}

/** Whether the evidence is from an attempt that had already lost the job. */
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

/** Dims the agent's own lines, with terminal codes, to set them apart from the tool's output. */
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

/**
 * Moves the folded heartbeats to where the latest of them stands. The hub keeps their event at the
 * place of the first one.
 */
function placeHeartbeats(entries: TimelineEntry[]): void {
  const at = entries.findIndex((entry) => entry.type === 'heartbeats');
  const [beats] = at === -1 ? [] : entries.splice(at, 1);
  if (beats?.type !== 'heartbeats') return;
  const next = entries.findIndex((entry, index) => index >= at && startOf(entry) > beats.lastAt);
  entries.splice(next === -1 ? entries.length : next, 0, beats);
}

/** Times of the hub have one form, so they compare as texts. */
function startOf(entry: TimelineEntry): string {
  if (entry.type === 'event') return entry.event.at;
  return entry.type === 'output' ? entry.firstAt : entry.lastAt;
}

function cutOutput(entry: TimelineEntry): void {
  if (entry.type !== 'output' || entry.text.length <= OUTPUT_CHARS_MAX) return;
  const cut = entry.text.length - OUTPUT_CHARS_MAX;
  const lineEnd = entry.text.indexOf('\n', cut);
  const start = lineEnd === -1 || lineEnd - cut > 10_000 ? cut : lineEnd + 1;
  entry.skippedChars = start;
  entry.text = entry.text.slice(start);
}
