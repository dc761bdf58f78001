import type { AgentAlreadyRunningError } from '@signalbox/agent';
import { CliError } from '../../cli-error.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';

/** A running agent or executor of cloud AI jobs. */
interface Stoppable {
  heldJobIds(): string[];
  drain(): Promise<void>;
  stop(): Promise<void>;
  readonly done: Promise<void>;
}

export interface SignalOptions {
  /** Called at the first signal. */
  onSignal?: () => void;
  /** Signals within this time count as one: under npm, one Ctrl-C arrives twice. */
  sameSignalMs?: number;
}

/** Forwards the signals of this process to an agent. */
export interface AgentSignals {
  /** Handles signals until the agent has shut down. Rejects with the fault that ended the agent. */
  untilDone(agent: Stoppable): Promise<void>;
  /** Starts draining the agent; may be called before `untilDone`. */
  drain(): void;
  /** The exit code if jobs were returned; null if the agent ended by itself. */
  stopCode(): ExitCode | null;
}

/**
 * SIGTERM and the first SIGINT drain, because a person who stops an agent rarely wants to discard
 * its work. A second signal, or SIGQUIT, stops.
 *
 * @param interrupted has fired if a signal came while the agent started.
 */
export function agentSignals(
  log: { say(text: string): void },
  interrupted: AbortSignal,
  { onSignal: onFirst = () => {}, sameSignalMs = 0 }: SignalOptions = {},
): AgentSignals {
  let running: Stoppable | null = null;
  let isDraining = false;
  let code: ExitCode | null = null;

  function drain(): void {
    isDraining = true;
    // `untilDone` awaits the end and reports a failure.
    running?.drain().catch(() => {});
  }

  function stop(): void {
    onFirst();
    code = exitCodes.interrupted;
    log.say('Returning the jobs to the queue and stopping.');
    running?.stop().catch(() => {});
  }

  let signalAtMs: number | null = null;
  function onSignal(signal: NodeJS.Signals): void {
    if (signal === 'SIGQUIT' || signalAtMs !== null) {
      const isSame = signalAtMs !== null && performance.now() - signalAtMs < sameSignalMs;
      if (!isSame) stop();
      return;
    }
    signalAtMs = performance.now();
    onFirst();
    const held = running?.heldJobIds().length ?? 0;
    if (held > 0) {
      const jobs = held === 1 ? 'the job' : `${held} jobs`;
      log.say(
        `Finishing ${jobs} first. Press Ctrl-C again to return it to the queue and stop now.`,
      );
    }
    drain();
  }

  const names: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGQUIT'];
  return {
    async untilDone(agent) {
      running = agent;
      if (isDraining) drain();
      for (const name of names) process.on(name, onSignal);
      if (interrupted.aborted && signalAtMs === null) onSignal('SIGINT');
      try {
        await agent.done;
      } finally {
        for (const name of names) process.off(name, onSignal);
      }
    },
    drain,
    stopCode: () => code,
  };
}

/** The CLI error for a state directory that another agent uses. */
export function explainAlreadyRunning(error: AgentAlreadyRunningError): CliError {
  return new CliError(exitCodes.failed, 'AGENT_ALREADY_RUNNING', error.message, {
    fix: 'Stop the other agent, or set another state-dir in the configuration file.',
    cause: error,
  });
}
