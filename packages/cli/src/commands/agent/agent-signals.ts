import type { AgentAlreadyRunningError } from '@signalbox/agent';
import { CliError } from '../../cli-error.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';

/** A running agent, or executor of cloud AI jobs. */
interface Stoppable {
  heldJobIds(): string[];
  drain(): Promise<void>;
  stop(): Promise<void>;
  readonly done: Promise<void>;
}

/** Passes the signals of this process on to an agent. */
export interface AgentSignals {
  /** Listens for signals until the agent has left. Rejects with the fault that ended the agent. */
  untilDone(agent: Stoppable): Promise<void>;
  /** Lets the agent finish what it holds and leave; may be called before `untilDone`. */
  drain(): void;
  /** The exit code when jobs were given back; null when the agent left by itself. */
  stopCode(): ExitCode | null;
}

/**
 * SIGTERM and the first SIGINT drain, because a person who stops an agent seldom wants its work
 * thrown away. A second signal, or SIGQUIT, stops.
 */
export function agentSignals(log: { say(text: string): void }): AgentSignals {
  let running: Stoppable | null = null;
  let isDraining = false;
  let code: ExitCode | null = null;

  function drain(): void {
    isDraining = true;
    // `untilDone` waits for its end and reports its failure.
    running?.drain().catch(() => {});
  }

  function stop(): void {
    code = exitCodes.interrupted;
    log.say('Giving the jobs back and leaving.');
    running?.stop().catch(() => {});
  }

  let isAsked = false;
  function onSignal(signal: NodeJS.Signals): void {
    if (signal === 'SIGQUIT' || isAsked) {
      stop();
      return;
    }
    isAsked = true;
    const held = running?.heldJobIds().length ?? 0;
    if (held > 0) {
      const jobs = held === 1 ? 'the job' : `${held} jobs`;
      log.say(`Finishing ${jobs} first. Once more (Ctrl-C) to give back and leave now.`);
    }
    drain();
  }

  const names: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGQUIT'];
  return {
    async untilDone(agent) {
      running = agent;
      if (isDraining) drain();
      for (const name of names) process.on(name, onSignal);
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

/** The error of the command when another agent uses the state directory. */
export function explainAlreadyRunning(error: AgentAlreadyRunningError): CliError {
  return new CliError(exitCodes.failed, 'AGENT_ALREADY_RUNNING', error.message, {
    fix: 'Stop the other one, or give this one a directory of its own: --state-dir DIR',
    cause: error,
  });
}
