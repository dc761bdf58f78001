import { type ExitCode, exitCodes } from '../exit-codes.ts';

/** Of an agent, or of an executor of cloud AI jobs, what its signals need. */
interface Stoppable {
  heldJobIds(): string[];
  drain(): Promise<void>;
  stop(): Promise<void>;
}

/** How an agent is told to leave. */
export interface AgentSignals {
  /** Listens until the returned function is called. */
  attach(agent: Stoppable): () => void;
  /** Lets the agent finish what it holds and leave; may come before it is attached. */
  drain(): void;
  /** The exit code when jobs were given back; null when the agent left in its own time. */
  stopCode(): ExitCode | null;
}

/**
 * SIGTERM and the first SIGINT drain: whoever stops an agent seldom wants its work thrown away. A
 * second signal, or SIGQUIT, stops.
 */
export function agentSignals(log: { say(text: string): void }): AgentSignals {
  let running: Stoppable | null = null;
  let isDraining = false;
  let code: ExitCode | null = null;

  function drain(): void {
    isDraining = true;
    // Its end is awaited by `done`, and so is its failure.
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
    attach(agent) {
      running = agent;
      if (isDraining) drain();
      for (const name of names) process.on(name, onSignal);
      return () => {
        for (const name of names) process.off(name, onSignal);
      };
    },
    drain,
    stopCode: () => code,
  };
}
