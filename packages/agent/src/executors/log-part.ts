import type { Activity, Plan, ToolCallKind } from '@signalbox/contract';
import { indent } from './tool-output.ts';

/** Text of the log, and what it is about. */
export interface LogPart {
  text: string;
  /** With untrusted strings of any length: `job/shared-activity.ts` bounds and redacts them. */
  activity?: Activity;
}

export function plainPart(text: string): LogPart[] {
  return text === '' ? [] : [{ text }];
}

export function textOfParts(parts: readonly LogPart[]): string {
  return parts.map(({ text }) => text).join('');
}

/** Indents the text of each part by a mark. */
export function indentParts(parts: readonly LogPart[], mark: string): LogPart[] {
  return parts.map((part) => ({ ...part, text: indent(part.text, mark) }));
}

const planMarks = { pending: '☐', in_progress: '▸', completed: '☑' } as const;

/** A plan as people read it, a line for each entry. */
export function planPart(entries: Plan['entries']): LogPart {
  const lines = entries.map(({ status, text }) => `  ${planMarks[status]} ${text}\n`);
  return { text: `Plan:\n${lines.join('')}`, activity: { plan: { entries } } };
}

/** The kind of a tool by the name that Claude Code gives it. */
export const claudeToolKinds: Readonly<Record<string, ToolCallKind>> = {
  Bash: 'execute',
  BashOutput: 'execute',
  Read: 'read',
  NotebookRead: 'read',
  Edit: 'edit',
  MultiEdit: 'edit',
  Write: 'edit',
  NotebookEdit: 'edit',
  Grep: 'search',
  Glob: 'search',
  LS: 'search',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
  Task: 'think',
  Agent: 'think',
};
