import { type AgentCapabilities, LEASE_MS_DEFAULT } from '@signalbox/contract';
import type { AgentEvent } from './agent-events.ts';
import type { Clock } from './clock.ts';
import type { Executor } from './executors/executor.ts';
import type { RepositoryMapping } from './git/git-mirror.ts';
import type { HubClient } from './hub-client.ts';
import type { Proof, Rung } from './isolation/rungs.ts';

/** A repository that an agent works on, with what differs from the agent's own settings. */
export interface AgentRepository extends RepositoryMapping {
  /** Runs the jobs of this repository. Default: the agent's. */
  executor?: Executor | undefined;
  /** Default: the agent's. */
  holdMs?: number | undefined;
  /** Variables that its jobs have beside those of the agent's environment. */
  environment?: Readonly<Record<string, string>> | undefined;
}

/** Options of an agent; defaults are given at each field. */
export interface AgentOptions {
  baseUrl: string;
  /** Token of a person or a service principal. Absent: the hub runs in development mode. */
  token?: string | undefined;
  workspaceId: string;
  displayName: string;
  /** Repositories cloned on this machine. Jobs of other repositories are not claimed. */
  repositories: readonly AgentRepository[];
  /** The agent's own directory. Each directory serves one agent at a time. */
  stateDir: string;
  executor: Executor;
  /** Default 1. */
  maxConcurrentJobs?: number | undefined;
  /** Default 600,000. The lease is renewed at every third of this time. */
  leaseMs?: number | undefined;
  /** How long a tool waits for a person before its job is parked; default 5 minutes. */
  holdMs?: number | undefined;
  /** Time limit of one job; default 6 hours. */
  jobTimeLimitMs?: number | undefined;
  /** Merged into the capabilities that the agent detects. `canWrite` defaults to true. */
  capabilities?: AgentCapabilities | undefined;
  labels?: Record<string, string> | undefined;
  /** Directory of the scripts `environment`, `pre-checkout`, `pre-command`, `post-command`. */
  hooksDir?: string | undefined;
  /**
   * The user that tools and the hooks in their worktree run as, so that they cannot read what the
   * agent keeps. The agent must be root or have the capabilities for it. Default: the agent's own.
   */
  runAs?: string | undefined;
  /**
   * The agent claims nothing unless this rung holds for its tools; `wrap` also wraps their
   * processes. Default: it claims with what holds, and says what that is.
   */
  isolation?: Rung | undefined;
  /** Paths that wrapped processes may read, beside what they need anyway. */
  readable?: readonly string[] | undefined;
  /** The person's login and other files that no tool is to read. */
  privatePaths?: readonly string[] | undefined;
  /** Worktrees that are kept for later jobs, of each repository. Default: `maxConcurrentJobs`. */
  warmWorktrees?: number | undefined;
  /** Limit of the output kept for one job; default 256 MiB. */
  logBytesMax?: number | undefined;
  /** Time between SIGTERM and SIGKILL; default 10,000. */
  killGraceMs?: number | undefined;
  /** How long an agent that shuts down tries to deliver its results; default 30,000. */
  flushMs?: number | undefined;
  onEvent?: ((event: AgentEvent) => void) | undefined;
  /**
   * The environment that jobs inherit, after cleaning. Default: the environment of this process.
   */
  env?: NodeJS.ProcessEnv | undefined;
  /** Default: an SDK client for `baseUrl` and `token`. */
  client?: HubClient | undefined;
  clock?: Clock | undefined;
  /** Source of jitter; returns values in [0, 1). */
  random?: (() => number) | undefined;
}

export const agentDefaults = {
  maxConcurrentJobs: 1,
  leaseMs: LEASE_MS_DEFAULT,
  jobTimeLimitMs: 6 * 60 * 60_000,
  holdMs: 5 * 60_000,
  logBytesMax: 256 * 1024 * 1024,
  /** product.md: SIGTERM to the process group, SIGKILL after 10 s. */
  killGraceMs: 10_000,
  flushMs: 30_000,
} as const;

/** A running agent. */
export interface RunningAgent {
  readonly machineFingerprint: string;
  /** The version that the coding tool prints; null when it prints none. */
  readonly toolVersion: string | null;
  /** How the tools are kept from the machine, as the agent has tried. */
  readonly proof: Proof;
  /** Sentences on what may answer the coding tools before the agent's own rules. */
  readonly toolWarnings: readonly string[];
  /** IDs of the jobs held now. */
  heldJobIds(): string[];
  /**
   * Stops claiming, finishes held jobs while renewing their leases, delivers results, shuts down.
   */
  drain(): Promise<void>;
  /**
   * Shuts down now: ends the processes of held jobs (SIGTERM, then SIGKILL) and returns the jobs to
   * the queue. May be called after `drain`.
   */
  stop(): Promise<void>;
  /** Resolves after shutdown; rejects when the agent cannot continue (its token was rejected). */
  readonly done: Promise<void>;
}
