import type { Agent, AgentStatus, StandingCommand } from '@signalbox/contract';
import type { Styles } from './io.ts';
import { oneLine } from './text.ts';

const icons: Readonly<Record<AgentStatus, string>> = { online: '●', draining: '◐', offline: '○' };
const colors: Readonly<Record<AgentStatus, keyof Styles>> = {
  online: 'green',
  draining: 'yellow',
  offline: 'dim',
};

/** Icon and word of an agent's status, or of its command while that says more. */
export function agentStatusText({ status, command }: Agent): string {
  return `${icons[status]} ${command === null ? status : commandText(command)}`;
}

export function colorAgentStatus(styles: Styles, { status }: Agent, text: string): string {
  return styles[colors[status]](text);
}

/** The state of a command in one or two words. */
export function commandText({ command, state }: StandingCommand): string {
  if (state === 'expired') return 'stop expired';
  return state === 'asked' ? `asked: ${command}` : state;
}

export function agentName({ displayName, agentId }: Agent): string {
  return oneLine(displayName) || agentId;
}

/** The newest job that an agent holds, and how many more. */
export function heldText({ held, heldCount, status }: Agent): string {
  if (heldCount === 0) return status === 'online' ? 'idle' : '–';
  const [first] = held;
  if (first === undefined) return `${heldCount} model calls`;
  const more = heldCount > 1 ? ` (and ${heldCount - 1} more)` : '';
  return `${oneLine(first.title) || first.jobId}${more}`;
}
