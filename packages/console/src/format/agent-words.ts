import type { Agent, AgentCommandName, AgentStatus, StandingCommand } from '@signalbox/contract';
import { plainText } from './text.ts';
import { formatMoment } from './time.ts';

export const agentStatusWords: Readonly<Record<AgentStatus, string>> = {
  online: 'Online',
  draining: 'Draining',
  offline: 'Offline',
};

const pauseCodeWords: Readonly<Record<string, string>> = {
  usage_limit: 'Usage limit of the provider',
  provider_busy: 'The provider is overloaded',
  not_logged_in: 'The coding tool is not logged in',
  setup_failed: 'The set-up of a repository fails',
};

/**
 * Why an agent claims nothing at the moment, and until when; null while it claims. `tool`: it
 * claims for other accounts, and nothing for the one of this tool.
 */
export function pauseWords(
  { status, capabilities: { paused, pauses = [] } }: Pick<Agent, 'status' | 'capabilities'>,
  nowMs: number,
): { reason: string; until: string; message: string; tool: string | null } | null {
  const lasting = (one: { until: string } | undefined) =>
    one !== undefined && status !== 'offline' && Date.parse(one.until) > nowMs;
  const partial = pauses.find(lasting);
  const shown = lasting(paused) ? paused : partial;
  if (shown === undefined) return null;
  const isSetup = partial?.code === 'setup_failed';
  return {
    reason: pauseCodeWords[shown.code] ?? 'Paused by itself',
    until: formatMoment(shown.until, nowMs),
    message: plainText(shown.message),
    tool:
      shown === paused
        ? null
        : plainText(partial?.tool ?? (isSetup ? 'a repository' : 'an account')),
  };
}

const asked: Readonly<Record<AgentCommandName, string>> = {
  drain: 'Asked to drain',
  resume: 'Asked to resume',
  stop: 'Asked to stop',
  'stop-now': 'Asked to stop now',
};

/** The state of a command in two or three words. */
export function commandWords({ command, state }: StandingCommand): string {
  switch (state) {
    case 'asked':
      return asked[command];
    case 'draining':
      return 'Draining';
    case 'drained':
      return 'Drained';
    case 'stopping':
      return 'Stopping';
    case 'stopped':
      return 'Stopped';
    case 'expired':
      return 'Stop expired';
  }
}

/** The next step of a command, in a sentence. */
export function commandOutlook({ status, heldCount, command }: Agent): string {
  if (command === null) return '';
  const jobs = heldCount === 1 ? 'the job that it holds' : `the ${heldCount} jobs that it holds`;
  switch (command.state) {
    case 'asked':
      return askedOutlook(status, command);
    case 'draining':
      return `It finishes ${jobs} and gets no more.`;
    case 'drained':
      return 'It holds no job and gets none until it is resumed, also after a restart.';
    case 'stopping':
      if (command.command === 'stop-now') return 'It gives its jobs back to the queue and ends.';
      return heldCount === 0 ? 'Its process ends.' : `It finishes ${jobs}; then its process ends.`;
    case 'stopped':
      return 'Its process has ended. Start it again on its machine.';
    case 'expired':
      return 'It did not report within an hour, so it was not stopped. It gets jobs again.';
  }
}

function askedOutlook(status: AgentStatus, { command }: StandingCommand): string {
  if (command === 'resume') return 'It learns of this with its next report.';
  const held = 'The hub gives it no more jobs.';
  if (status !== 'offline') return `${held} It learns of this within seconds.`;
  const isStop = command !== 'drain';
  return isStop
    ? `${held} It is offline: the stop waits for its next report for an hour, then it expires.`
    : `${held} It is offline: it learns of this when it comes back.`;
}
