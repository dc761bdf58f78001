import type { AgentCommand } from '@signalbox/contract';
import type { AgentEvent } from '../agent-events.ts';
import { type AgentOptions, agentDefaults } from '../agent-options.ts';
import type { Clock } from '../clock.ts';
import type { HubClient } from '../hub-client.ts';
import type { OutboxLoop } from '../loops/outbox-loop.ts';
import type { ClaimedJob } from './attempt.ts';
import { type HeldJob, holdJob } from './held-job.ts';
import { completionOfUnknownRepository } from './job-result.ts';
import type { JobSettings } from './job-work.ts';

/** The jobs that this agent holds now. */
export interface HeldJobs {
  begin(claimed: ClaimedJob): void;
  /** Those that take up room: their work is not over. */
  count(): number;
  ids(): string[];
  cancel(jobId: string): void;
  stopAll(why: string): void;
  /** Resolves when no work is going on. */
  worked(): Promise<void>;
  /** Resolves when no lease is kept. */
  released(): Promise<void>;
}

export function createHeldJobs(parts: {
  options: AgentOptions;
  settings: JobSettings;
  client: HubClient;
  clock: Clock;
  leaseMs: number;
  outbox: OutboxLoop;
  random: () => number;
  emit(event: AgentEvent): void;
  onCommands(commands: readonly AgentCommand[]): void;
  /** There is room for one more job. */
  onRoom(): void;
  onDefect(error: unknown): void;
}): HeldJobs {
  const { options, outbox, emit, onDefect } = parts;
  const held = new Map<string, HeldJob>();
  const releases = new Set<Promise<void>>();

  function begin(claimed: ClaimedJob): void {
    emit({ type: 'job-claimed', job: claimed.job, attempt: claimed.claimGeneration });
    const repository = options.repositories.find(({ repoId }) => repoId === claimed.job.repoId);
    if (repository === undefined) {
      outbox.add(completionOfUnknownRepository(claimed, parts.clock.nowMs())).catch(onDefect);
      return;
    }
    const job = holdJob({
      ...parts,
      ...{ claimed, repository },
      timeLimitMs: options.jobTimeLimitMs ?? agentDefaults.jobTimeLimitMs,
      logBytesMax: options.logBytesMax ?? agentDefaults.logBytesMax,
    });
    held.set(claimed.key, job);
    releases.add(job.released);
    void job.worked.then(() => {
      held.delete(claimed.key);
      parts.onRoom();
    });
    void job.released.then(() => releases.delete(job.released));
  }

  return {
    begin,
    count: () => held.size,
    ids: () => [...held.values()].map(({ claimed }) => claimed.jobId),
    cancel(jobId) {
      for (const job of held.values()) {
        if (job.claimed.jobId === jobId) job.stop('canceled', 'The job was canceled.');
      }
    },
    stopAll(why) {
      for (const job of held.values()) job.stop('agent_stopped', why);
    },
    async worked() {
      await Promise.all([...held.values()].map(({ worked }) => worked));
    },
    async released() {
      await Promise.all(releases);
    },
  };
}
