import type { Agent, AgentStatus, StandingCommand } from '@signalbox/contract';
import { formatUntil } from '../terminal/duration.ts';
import type { Styles } from '../terminal/io.ts';
import { oneLine } from '../terminal/text.ts';

const icons: Readonly<Record<AgentStatus, string>> = { online: '●', draining: '◐', offline: '○' };
const colors: Readonly<Record<AgentStatus, keyof Styles>> = {
  online: 'green',
  draining: 'yellow',
  offline: 'dim',
};

const PAUSED_ICON = '◐';

/** Icon and word of an agent's status, or of its command or pause while that says more. */
export function agentStatusText(agent: Agent, nowMs = Date.now()): string {
  const { status, command, capabilities } = agent;
  if (command !== null) return `${icons[status]} ${commandText(command)}`;
  const { paused } = capabilities;
  if (isPaused(agent, nowMs) && paused)
    return `${PAUSED_ICON} paused until ${formatUntil(paused.until)}`;
  return `${icons[status]} ${status}`;
}

export function colorAgentStatus(styles: Styles, agent: Agent, text: string): string {
  return isPaused(agent, Date.now()) ? styles.yellow(text) : styles[colors[agent.status]](text);
}

/** Whether an agent that is online claims nothing. */
function isPaused({ status, capabilities: { paused } }: Agent, nowMs: number): boolean {
  return status === 'online' && paused !== undefined && Date.parse(paused.until) > nowMs;
}

/** The state of a command in one or two words. */
function commandText({ command, state }: StandingCommand): string {
  if (state === 'expired') return 'stop expired';
  return state === 'asked' ? `asked: ${command}` : state;
}

export function agentName({ displayName, agentId }: Agent): string {
  return oneLine(displayName) || agentId;
}

/** Why an agent holds nothing: a pause, of all accounts or one, or no job. */
function idleText(agent: Agent, nowMs: number): string {
  const { status, capabilities } = agent;
  if (status !== 'online') return '–';
  if (isPaused(agent, nowMs)) return oneLine(capabilities.paused?.message ?? '');
  const pause = capabilities.pauses?.find((one) => Date.parse(one.until) > nowMs);
  if (pause === undefined) return 'idle';
  const what = pause.code === 'setup_failed' ? 'a repository' : 'an account';
  return `idle, ${oneLine(pause.tool ?? what)} paused until ${formatUntil(pause.until)}`;
}

/** The newest job that an agent holds, and how many more. */
export function heldText(agent: Agent, nowMs = Date.now()): string {
  const { held, heldCount } = agent;
  if (heldCount === 0) return idleText(agent, nowMs);
  const [first] = held;
  if (first === undefined) return `${heldCount} model calls`;
  const more = heldCount > 1 ? ` (and ${heldCount - 1} more)` : '';
  return `${oneLine(first.title) || first.jobId}${more}`;
}

/** The tools of an agent, with the model of each if it is known. */
export function toolsText({ capabilities: { tools = [] } }: Pick<Agent, 'capabilities'>): string {
  return tools
    .map(({ name, model }) => oneLine(model === undefined ? name : `${name} ${model}`))
    .join(', ');
}
