import type { ActivityView, ShownCall } from './activity.ts';
import type { LineRange } from './log.ts';

/** The choices that narrow a log. */
export const logFilters = ['calls', 'messages', 'problems'] as const;
export type LogFilter = (typeof logFilters)[number];

export const logFilterWords: Readonly<Record<LogFilter, string>> = {
  calls: 'Tool calls',
  messages: 'Messages',
  problems: 'Errors and warnings',
};

/** Lines that a filter shows as one. */
export interface FilteredLine extends LineRange {
  /** A tool call, which begins in the first line. */
  shown?: ShownCall;
  /** The text of the line, where it is known without reading the log. */
  text?: string;
}

/** The hub searches for plain texts: each of these is one search. */
export const problemTexts = ['error', 'warn', 'fail', 'fatal'] as const;
const problemWords = /\b(?:\w*errors?|warn(?:ings?)?|fail(?:ed|ures?|s|ing)?|fatal)\b/i;
/** Summaries of programs that have found nothing. */
const noProblem = /\b(?:0|no|without) (?:errors?|warnings?|fail(?:ed|ures?))\b/gi;

/** The line by which the agent ends the output of a failed call; the call says it, too. */
const endOfCall = /^[\s│]*✖ failed/;

/** Whether a line reads like an error or a warning. */
export function isProblem(text: string): boolean {
  return problemWords.test(text.replace(noProblem, ''));
}

export function callLines({ calls }: ActivityView): FilteredLine[] {
  return [...calls].map(([line, shown]) => ({ first: line, last: line, shown }));
}

/**
 * Failed calls and the lines that read like a problem, in the order of the log.
 *
 * @param found the lines that contain one of the problem texts.
 */
export function problemLines(
  activity: ActivityView,
  found: readonly { line: number; text: string }[],
): FilteredLine[] {
  const lines = new Map<number, FilteredLine>();
  for (const { line, text } of found) {
    const isOfCall = activity.calls.has(line) || (activity.calls.size > 0 && endOfCall.test(text));
    if (!isOfCall && isProblem(text)) lines.set(line, { first: line, last: line, text });
  }
  for (const each of callLines(activity)) {
    if (each.shown?.call.status === 'failed') lines.set(each.first, each);
  }
  return [...lines.values()].sort((a, b) => a.first - b.first);
}

/** Keeps those with a line in which a search has found its text. */
export function withFound(
  lines: readonly FilteredLine[],
  found: readonly number[],
): FilteredLine[] {
  let at = 0;
  return lines.filter(({ first, last }) => {
    while (at < found.length && (found[at] as number) < first) at += 1;
    const next = found[at];
    return next !== undefined && next <= last;
  });
}

const nothing: Readonly<Record<LogFilter, string>> = {
  calls: 'The tool has reported no calls.',
  messages: 'The tool has reported no messages.',
  problems: 'No line reads like an error or a warning.',
};

/** The text that takes the place of lines. */
export function emptyTextOf(
  filter: LogFilter,
  { total, isBusy }: { total: number; isBusy: boolean },
  searched: string,
): string {
  if (total > 0) return `None of these lines contains “${searched}”.`;
  return isBusy ? 'Searching …' : nothing[filter];
}
