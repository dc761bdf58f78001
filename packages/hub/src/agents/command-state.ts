import {
  type AgentCommand,
  type AgentCommandName,
  type AgentCommandState,
  type AgentStatus,
  STOP_COMMAND_EXPIRES_MS,
} from '@signalbox/contract';
import type { AgentRow } from './store.ts';

/*
 * The life of a command of a person to an agent. The row of the agent has the last one.
 *
 *   asked ──the agent acknowledges──▶ draining ──holds no job──▶ drained ──resume──▶ (none)
 *     │                               stopping ──its process ends──▶ stopped ──it starts──▶ (none)
 *     └──a stop, after an hour──▶ expired
 *
 * The hub gives the agent no job from `asked` on, so a drain also holds for agents that know no
 * commands. A drain is a state of the agent, so a process that starts later is drained as well. A
 * stop is for one process: when the next one starts, it is over.
 */

type CommandRow = Pick<
  AgentRow,
  'command' | 'command_number' | 'command_asked_at' | 'command_acknowledged_at'
>;

export function isStop(command: AgentRow['command']): boolean {
  return command === 'stop' || command === 'stop-now';
}

/** When a stop expires that the agent has not acknowledged; null for other commands. */
export function expiryOf(row: CommandRow): number | null {
  if (!isStop(row.command) || row.command_acknowledged_at !== null) return null;
  return (row.command_asked_at ?? 0) + STOP_COMMAND_EXPIRES_MS;
}

function isExpired(row: CommandRow, nowMs: number): boolean {
  const expiresMs = expiryOf(row);
  return expiresMs !== null && expiresMs <= nowMs;
}

/** The command that holds for the agent now; null if none does, or if it has expired. */
export function commandInForce(row: CommandRow, nowMs: number): AgentCommandName | null {
  return isExpired(row, nowMs) ? null : row.command;
}

/** Whether a command keeps the hub from giving the agent jobs. */
export function isHeldBack(row: CommandRow, nowMs: number): boolean {
  const command = commandInForce(row, nowMs);
  return command !== null && command !== 'resume';
}

/** The command to send to a process that has obeyed the command `obeyed`, or none. */
export function commandsToSend(
  row: CommandRow,
  obeyed: number | undefined,
  nowMs: number,
): AgentCommand[] {
  const command = commandInForce(row, nowMs);
  const isNew = command !== null && row.command_number !== obeyed;
  return isNew ? [{ command, number: row.command_number }] : [];
}

/** The command columns after a heartbeat of a process that has obeyed the command `obeyed`. */
export function commandAfterHeartbeat(
  row: CommandRow,
  { status, obeyed }: { status: AgentStatus; obeyed: number | undefined },
  nowMs: number,
): Pick<AgentRow, 'command' | 'command_acknowledged_at'> {
  const { command, command_acknowledged_at: before } = row;
  const hasLeft = isStop(command) && status === 'offline';
  const hasObeyed = row.command_number === obeyed || hasLeft;
  // Another process than the one that was stopped.
  const isOver = isStop(command) && before !== null && !hasObeyed;
  if (isOver || (hasObeyed && command === 'resume')) {
    return { command: null, command_acknowledged_at: null };
  }
  return { command, command_acknowledged_at: hasObeyed ? (before ?? nowMs) : before };
}

/** @param held how many jobs the agent holds. */
export function commandStateOf(
  row: CommandRow,
  { status, held, nowMs }: { status: AgentStatus; held: number; nowMs: number },
): AgentCommandState {
  if (isExpired(row, nowMs)) return 'expired';
  if (row.command_acknowledged_at === null) return 'asked';
  if (isStop(row.command)) return status === 'offline' ? 'stopped' : 'stopping';
  return held === 0 ? 'drained' : 'draining';
}
