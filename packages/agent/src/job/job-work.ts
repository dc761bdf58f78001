import type { BuildsOn, OutcomeReason, Usage } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { Executor, ExecutorReport, ExecutorTool } from '../executors/executor.ts';
import type { RepositoryMapping } from '../git/git-mirror.ts';
import type { Worktree } from '../git/git-worktree.ts';
import { type WarmWorktrees, warmWorktreesOf } from '../git/warm-worktrees.ts';
import type { WorkBranch } from '../git/work-branch.ts';
import type { HubClient } from '../hub-client.ts';
import type { Wrap } from '../isolation/bubblewrap.ts';
import type { Isolation } from '../isolation/isolation.ts';
import type { Proof } from '../isolation/rungs.ts';
import type { ProcessExit } from '../process/process-run.ts';
import type { ToolUser } from '../process/tool-user.ts';
import type { RoundReview } from '../review/comment-fates.ts';
import type { SetupCache } from '../setup/setup-cache.ts';
import type { SetupOptions } from '../setup/setup-options.ts';
import type { SetupEnd } from '../setup/setup-pauses.ts';
import type { JobDirectory, StateDirectory } from '../state-directory.ts';
import type { ClaimedJob } from './attempt.ts';
import type { JobLog } from './job-log.ts';
import type { Redactor } from './redaction.ts';
import type { ToolReport } from './tool-report.ts';
import type { ToolSession } from './tool-session.ts';

/** Settings shared by all jobs of an agent. */
export interface JobSettings {
  state: StateDirectory;
  clock: Clock;
  executor: Executor;
  tool: ExecutorTool;
  /** The agent's environment, from which the environment of a job is derived. */
  env: NodeJS.ProcessEnv;
  baseUrl: string;
  token: string | undefined;
  hooksDir: string | undefined;
  killGraceMs: number;
  client: HubClient;
  /** How long a tool waits for a person before its job is parked. */
  holdMs: number;
  /** The user that tools run as; null: the agent's own. */
  toolUser: ToolUser | null;
  isolation: Isolation;
  /** Worktrees that are kept for later jobs, of each repository. */
  warmWorktrees: number;
  /** False: all jobs of this agent are read-only. */
  canWrite: boolean;
}

/** A job that continues or reviews another: where it begins, and what its tool is told of it. */
export interface Round {
  number: number;
  /** The branch that is continued; null: the work begins again from the base. */
  branch: WorkBranch | null;
  /** Of a review: the commit that it reviews. */
  beginSha?: string;
  /** The base of the work, if its branch is continued and the base is known. */
  buildsOn?: BuildsOn;
  /** For a tool that continues its session. */
  news: string;
  /** For a tool that does not know the earlier rounds. */
  history: string;
}

/** The parts of an attempt that come from the held job. */
export interface AttemptParts {
  settings: JobSettings;
  claimed: ClaimedJob;
  /** Fires when the work must stop, for any reason, which is a `JobStop`. */
  signal: AbortSignal;
  /** Resolves when the lease is confirmed. */
  leaseConfirmed: Promise<void>;
  /** Reports progress for the timeline. */
  report(progress: string): void;
  /** Called when the tool's model answers. */
  onModelAnswer(): void;
}

/** The state of one attempt; the steps fill it in. */
export interface JobWork extends AttemptParts {
  repository: RepositoryMapping;
  /** The same without the branch that the job names. */
  configured: RepositoryMapping;
  directory: JobDirectory;
  branch: string;
  /** Present if the job continues another, once its worktree is there. */
  round?: Round;
  /** Present if its work has open review comments. */
  review?: RoundReview;
  isReadOnly: boolean;
  /** Marks every process of the attempt. */
  mark: string;
  env: NodeJS.ProcessEnv;
  redactor: Redactor;
  log: JobLog;
  /** The limit of the cost of this attempt; null: no limit. */
  budgetUsd: number | null;
  /** The usage of the tool so far, as far as it has told while it ran. */
  usage?: Usage;
  /** Keeps what the tool has used so far, and ends a job that has spent its budget. */
  onUsage(usage: Usage): void;
  /** Present if the executor has sessions. */
  session?: ToolSession;
  worktree?: Worktree;
  /** The commit that the work began with, and where that is from. */
  buildsOn?: BuildsOn;
  /** Its worktree began at the base of the repository, and not with commits of another job. */
  beginsAtBase?: boolean;
  /** How its processes start, once its worktree is there; null: as they are. */
  wrap?: Wrap | null;
  /** The tool's own sandbox does not work in the wrap. */
  isSandboxOff?: boolean;
  /** How they are kept from the machine. */
  proof?: Proof;
  /** The commit of the configured branch, if the person allows files of it to say what runs. */
  configuredSha?: string;
  /** Its set-up in force; absent before. */
  setup?: SetupOptions;
  /** The kept folders that its set-up uses. */
  setupCaches?: readonly SetupCache[];
  /** Absent: its set-up has not ended. */
  setupEnd?: SetupEnd;
  /** Its set-up has begun, so there is something to tear down. */
  ports?: readonly number[];
  exit?: ProcessExit;
  executorReport?: ExecutorReport;
  /** Notes of the tools of the job; absent until the command has ended. */
  toolReport?: ToolReport;
  /** The last output of the command. */
  tail: { stdout: string; stderr: string };
}

/** The worktrees that jobs of the same repository have left. */
export function warmWorktreesFor({ settings, repository }: JobWork): WarmWorktrees {
  const { state, toolUser, warmWorktrees } = settings;
  // As root, the agent would write where the user of tools may exchange folders.
  return warmWorktreesOf(state, repository.repoId, toolUser === null ? warmWorktrees : 0);
}

/** The job cannot be run, or its command failed. Becomes the outcome of the job. */
export class JobFailure extends Error {
  override name = 'JobFailure';
  readonly reason: Exclude<OutcomeReason, string>;

  constructor(
    category: 'environment' | 'execution' | 'agent' | 'provider',
    code: string,
    summary: string,
    retry: Pick<
      Exclude<OutcomeReason, string>,
      'recommendedDelayMs' | 'spendsAttempt' | 'occurrencesMax' | 'details'
    > | null = null,
  ) {
    super(summary);
    this.reason = { category, code, retryable: retry !== null, summary, ...retry };
  }
}

/** The work was stopped from outside; the signal carries the reason. */
export class JobStopped extends Error {
  override name = 'JobStopped';
}

/** A problem of this machine may be temporary, or another agent may not have it. */
export const ENVIRONMENT_RETRY = { recommendedDelayMs: 30_000 };
