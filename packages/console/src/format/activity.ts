import type {
  ActivityItem,
  Plan,
  ToolCall,
  ToolCallKind,
  ToolSession,
  UsageSoFar,
} from '@signalbox/contract';
import type { IconName } from '../parts/page/icon.tsx';
import type { LineRange } from './log.ts';
import { plainText } from './text.ts';
import { formatDuration } from './time.ts';

/** A call as it is now, in the line in which it began. */
export interface ShownCall {
  call: ToolCall;
  startedAt: string;
}

/** The state of an attempt now. */
export interface ActivityView {
  calls: ReadonlyMap<number, ShownCall>;
  /** The lines in which the tool speaks. */
  messages: readonly LineRange[];
  plan?: Plan;
  usage?: UsageSoFar;
  session?: ToolSession;
}

/** Merges the end of each call with its start; of the rest, the latest counts. */
export function viewActivity(items: readonly ActivityItem[]): ActivityView {
  const starts = new Map<string, ActivityItem>();
  const calls = new Map<number, ShownCall>();
  let latest: Pick<ActivityView, 'plan' | 'usage' | 'session'> = {};
  for (const item of items) {
    const { toolCall, plan, usage, session } = item.activity;
    latest = {
      ...latest,
      ...(plan && { plan }),
      ...(usage && { usage }),
      ...(session && { session }),
    };
    if (toolCall === undefined) continue;
    const start = starts.get(toolCall.id) ?? item;
    starts.set(toolCall.id, start);
    calls.set(start.line, { call: toolCall, startedAt: start.at });
  }
  return { calls, messages: messagesOf(items), ...latest };
}

/** A message goes up to the next activity; the last one to the end of the log. */
function messagesOf(items: readonly ActivityItem[]): LineRange[] {
  return items.flatMap(({ line, activity }, at) => {
    if (!activity.isMessage) return [];
    const next = items[at + 1]?.line ?? Number.POSITIVE_INFINITY;
    return [{ first: line, last: Math.max(line, next - 1) }];
  });
}

export const callKinds: Readonly<Record<ToolCallKind, { icon: IconName; word: string }>> = {
  read: { icon: 'eye', word: 'Read' },
  edit: { icon: 'pencil', word: 'Edit' },
  search: { icon: 'search', word: 'Search' },
  execute: { icon: 'square-terminal', word: 'Command' },
  fetch: { icon: 'globe', word: 'Fetch' },
  think: { icon: 'workflow', word: 'Sub-task' },
  other: { icon: 'wrench', word: 'Tool' },
};

/** The state of a call, in a few words. */
export interface CallState {
  icon: IconName;
  tone: string;
  word: string;
  /** Its changed lines and its time; '' if they are not known. */
  details: string;
}

/** @param isEnded the attempt has ended, so that nothing runs. */
export function stateOfCall(call: ToolCall, isEnded: boolean): CallState {
  const { status, exitCode, durationMs, changes = [] } = call;
  const took = durationMs === undefined ? '' : formatDuration(durationMs);
  if (status === 'running') {
    return isEnded
      ? { icon: 'circle-slash', tone: 'text-muted', word: 'not finished', details: '' }
      : { icon: 'circle-play', tone: 'text-accent', word: 'running', details: '' };
  }
  if (status === 'failed') {
    const word = exitCode === undefined ? 'failed' : `exit code ${exitCode}`;
    return { icon: 'x', tone: 'text-danger', word, details: took };
  }
  const details = [countLines(changes), took].filter(Boolean).join(' · ');
  return { icon: 'check', tone: 'text-done', word: 'done', details };
}

function countLines(changes: NonNullable<ToolCall['changes']>): string {
  const counted = changes.filter(({ added }) => added !== undefined);
  if (counted.length === 0) return '';
  const added = counted.reduce((sum, change) => sum + (change.added ?? 0), 0);
  const removed = counted.reduce((sum, change) => sum + (change.removed ?? 0), 0);
  return `+${added.toLocaleString('en')} −${removed.toLocaleString('en')}`;
}

/** How far a plan is: what is done, and the step that comes now. */
export function progressOfPlan({ entries }: Plan): { done: number; now: string } {
  const now =
    entries.find(({ status }) => status === 'in_progress') ??
    entries.find(({ status }) => status === 'pending');
  const done = entries.filter(({ status }) => status === 'completed').length;
  return { done, now: plainText(now?.text ?? '') };
}

/** How full the model's context is: `45 % of 200,000 tokens`; '' if it is not known. */
export function contextWords({ contextTokens, contextTokensMax }: UsageSoFar): string {
  if (contextTokens === undefined || !contextTokensMax) return '';
  const share = Math.round((100 * contextTokens) / contextTokensMax);
  return `${share} % of ${contextTokensMax.toLocaleString('en')} tokens`;
}
