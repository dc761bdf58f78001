import { type AgentCapabilities, LEASE_MS_DEFAULT } from '@signalbox/contract';
import type { AgentEvent, AgentLogger } from './agent-events.ts';
import type { Clock } from './clock.ts';
import type { Executor } from './executors/executor.ts';
import type { RepositoryMapping } from './git/git-mirror.ts';
import type { HubClient } from './hub-client.ts';

/** What an agent is started with; everything optional has its default written beside it. */
export interface AgentOptions {
  baseUrl: string;
  /** The person's or the service principal's. Absent: a hub in development mode. */
  token?: string | undefined;
  workspaceId: string;
  displayName: string;
  /** What this machine has cloned. A job of any other repository is not claimed. */
  repositories: readonly RepositoryMapping[];
  /** The agent's own directory; one agent a directory. */
  stateDir: string;
  executor: Executor;
  /** Default: made once and kept in the state directory. */
  machineFingerprint?: string | undefined;
  /** Default 1. */
  maxConcurrentJobs?: number | undefined;
  /** Default 600,000. Renewed every third of it. */
  leaseMs?: number | undefined;
  /** How long one job may take; default 6 hours. */
  jobTimeLimitMs?: number | undefined;
  /** Added to what the agent finds out about itself. `canWrite` is true unless set. */
  capabilities?: AgentCapabilities | undefined;
  labels?: Record<string, string> | undefined;
  /** Holds the scripts `environment`, `pre-checkout`, `pre-command`, `post-command`. */
  hooksDir?: string | undefined;
  /** Output kept of one job; default 256 MiB. */
  logBytesMax?: number | undefined;
  /** Between SIGTERM and SIGKILL; default 10,000. */
  killGraceMs?: number | undefined;
  /** How long a leaving agent tries to deliver its results; default 30,000. */
  flushMs?: number | undefined;
  onEvent?: ((event: AgentEvent) => void) | undefined;
  logger?: AgentLogger | undefined;
  /** The environment that jobs inherit, cleaned; default that of this process. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Default: one of the SDK over `baseUrl` and `token`. */
  client?: HubClient | undefined;
  clock?: Clock | undefined;
  /** Jitter; in [0, 1). */
  random?: (() => number) | undefined;
}

export const agentDefaults = {
  maxConcurrentJobs: 1,
  leaseMs: LEASE_MS_DEFAULT,
  jobTimeLimitMs: 6 * 60 * 60_000,
  logBytesMax: 256 * 1024 * 1024,
  /** product.md: SIGTERM to the process group, SIGKILL after 10 s. */
  killGraceMs: 10_000,
  flushMs: 30_000,
} as const;

/** An agent at work. */
export interface RunningAgent {
  readonly machineFingerprint: string;
  /** Jobs held now. */
  heldJobIds(): string[];
  /** Claims nothing more, finishes what is held with its lease kept, delivers, leaves. */
  drain(): Promise<void>;
  /**
   * Leaves now: ends the processes of held jobs (SIGTERM, then SIGKILL) and gives the jobs back
   * to the queue. May follow `drain`.
   */
  stop(): Promise<void>;
  /** Resolves when the agent has left; rejects when it cannot go on (its token is dead). */
  readonly done: Promise<void>;
}
