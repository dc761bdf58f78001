import type { OutcomeReason } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { Executor, ExecutorReport, ExecutorTool } from '../executors/executor.ts';
import type { RepositoryMapping } from '../git/git-mirror.ts';
import type { Worktree } from '../git/git-worktree.ts';
import type { ProcessExit } from '../process/process-run.ts';
import type { JobDirectory, StateDirectory } from '../state-directory.ts';
import type { ClaimedJob } from './attempt.ts';
import type { JobLog } from './job-log.ts';
import type { Redactor } from './redaction.ts';

/** What all jobs of an agent share. */
export interface JobSettings {
  state: StateDirectory;
  clock: Clock;
  executor: Executor;
  tool: ExecutorTool;
  /** The environment of the agent, from which that of a job is made. */
  env: NodeJS.ProcessEnv;
  baseUrl: string;
  token: string | undefined;
  hooksDir: string | undefined;
  killGraceMs: number;
  /** False: no job of this agent may change anything. */
  canWrite: boolean;
}

/** One attempt in the making; the steps fill it in. */
export interface JobWork {
  settings: JobSettings;
  claimed: ClaimedJob;
  repository: RepositoryMapping;
  directory: JobDirectory;
  branch: string;
  isReadOnly: boolean;
  /** Marks every process of the attempt. */
  mark: string;
  env: NodeJS.ProcessEnv;
  redactor: Redactor;
  log: JobLog;
  /** Fires when the work is to stop, whatever the reason. */
  signal: AbortSignal;
  /** Resolves when the lease is known to be held. */
  leaseConfirmed: Promise<void>;
  /** Progress for the timeline. */
  report(progress: string): void;
  worktree?: Worktree;
  exit?: ProcessExit;
  executorReport?: ExecutorReport;
  /** The last that the command printed. */
  tail: { stdout: string; stderr: string };
}

/** The job cannot be done, or its command failed: becomes its outcome. */
export class JobFailure extends Error {
  override name = 'JobFailure';
  readonly reason: Exclude<OutcomeReason, string>;

  constructor(
    category: 'environment' | 'execution' | 'agent',
    code: string,
    summary: string,
    retry: { recommendedDelayMs: number } | null = null,
  ) {
    super(summary);
    this.reason = { category, code, retryable: retry !== null, summary, ...retry };
  }
}

/** The work was stopped from outside; the reason is with whoever stopped it. */
export class JobStopped extends Error {
  override name = 'JobStopped';
}

/** Trouble with the machine may pass, or another agent may not have it. */
export const ENVIRONMENT_RETRY = { recommendedDelayMs: 30_000 };
