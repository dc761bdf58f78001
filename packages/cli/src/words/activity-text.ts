import type { Activity, ActivityItem, ToolCall } from '@signalbox/contract';
import { formatDuration } from '../terminal/duration.ts';
import type { Styles } from '../terminal/io.ts';
import { oneLine, textWidth, truncateText } from '../terminal/text.ts';
import { usageText } from './job-text.ts';

/** A shorter time is not worth the reader's. */
const DURATION_MS_MIN = 1_000;

/** The latest state of each call, by the line in which it begins. */
export function callsByLine(items: readonly ActivityItem[]): Map<number, ToolCall> {
  const lines = new Map<string, number>();
  const calls = new Map<number, ToolCall>();
  for (const { line, activity } of items) {
    const { toolCall } = activity;
    if (toolCall === undefined) continue;
    const first = lines.get(toolCall.id) ?? line;
    lines.set(toolCall.id, first);
    calls.set(first, toolCall);
  }
  return calls;
}

/**
 * The line of the log in which a call begins, with its state behind it.
 *
 * @param isEnded the attempt has ended, so that nothing runs.
 */
export function callLine(
  styles: Styles,
  { text, call, isEnded, width, look = 'bold' }: CallLine,
): string {
  const state = stateOf(call, isEnded);
  const title = truncateText(oneLine(text), Math.max(8, width - textWidth(state) - 2));
  return `${styles[look](title)}  ${styles[colorOf(call, isEnded)](state)}`;
}

interface CallLine {
  text: string;
  call: ToolCall;
  isEnded: boolean;
  width: number;
  /** Of its text; bold if absent. */
  look?: 'bold' | 'dim';
}

function stateOf(call: ToolCall, isEnded: boolean): string {
  const { status, exitCode, changes = [] } = call;
  const took = tookOf(call);
  if (status === 'running') return isEnded ? '⊘ not finished' : '◐ running';
  if (status === 'failed') {
    const why = exitCode === undefined ? 'failed' : `exit code ${exitCode}`;
    return `✖ ${[why, took].filter(Boolean).join(', ')}`;
  }
  const counted = changes.filter(({ added }) => added !== undefined);
  const sum = (pick: 'added' | 'removed') =>
    counted.reduce((total, change) => total + (change[pick] ?? 0), 0);
  const lines = counted.length === 0 ? '' : `+${sum('added')} −${sum('removed')}`;
  return ['✔', lines, took].filter(Boolean).join(' ');
}

function colorOf({ status }: ToolCall, isEnded: boolean): 'green' | 'red' | 'cyan' | 'dim' {
  if (status === 'running') return isEnded ? 'dim' : 'cyan';
  return status === 'done' ? 'green' : 'red';
}

function tookOf({ durationMs = 0 }: ToolCall): string {
  return durationMs < DURATION_MS_MIN ? '' : formatDuration(durationMs);
}

/**
 * A line about an activity that the text of its entry does not have; null: it has nothing to add.
 *
 * @param lastId the call that began last: its end needs no name.
 */
export function followText({ toolCall, usage }: Activity, lastId: string): string | null {
  if (usage !== undefined) {
    const { contextTokens, contextTokensMax } = usage;
    const isKnown = contextTokens !== undefined && contextTokensMax;
    const full = isKnown
      ? `context ${Math.round((100 * contextTokens) / contextTokensMax)} %`
      : null;
    const parts = [usageText({ usage }), full].filter((part) => part !== null);
    return parts.length === 0 ? null : `  ${parts.join(', ')}`;
  }
  if (toolCall?.status !== 'done' || tookOf(toolCall) === '') return null;
  const name = toolCall.id === lastId ? '' : ` ${oneLine(toolCall.title)},`;
  return `  ✔${name} ${tookOf(toolCall)}`;
}
