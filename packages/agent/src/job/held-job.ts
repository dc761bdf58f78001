import { type AgentCommand, verdicts } from '@signalbox/contract';
import type { AgentEvent } from '../agent-events.ts';
import type { ToolFailure } from '../executors/tool-failure.ts';
import type { RepositoryMapping } from '../git/git-mirror.ts';
import { runLanding } from '../landing/run-landing.ts';
import { createBackoff } from '../loops/backoff.ts';
import { startLease } from '../loops/lease-loop.ts';
import { type LogLoop, startLogLoop } from '../loops/log-loop.ts';
import type { OutboxLoop } from '../loops/outbox-loop.ts';
import { removeToolTree } from '../process/tool-file.ts';
import type { SetupEnd } from '../setup/setup-pauses.ts';
import { jobDirectory } from '../state-directory.ts';
import { attemptOf, type ClaimedJob, type StopReason } from './attempt.ts';
import { exceededTimeLimit, timeLimitOf } from './job-budget.ts';
import { createJobRenewal } from './job-calls.ts';
import { type JobEnd, type JobStop, runJob } from './job-run.ts';
import type { JobSettings } from './job-work.ts';

/** A job held by this agent, from its claim until the hub answers its result. */
export interface HeldJob {
  readonly claimed: ClaimedJob;
  /**
   * Stops the work: ends the process and all its descendants, then acts on the reason. Only the
   * first reason counts.
   */
  stop(reason: StopReason, why: string): void;
  /** Resolves when the work is over; the job's slot is then free. */
  readonly worked: Promise<void>;
  /** Resolves when the lease is no longer renewed. */
  readonly released: Promise<void>;
}

export interface HeldJobOptions {
  settings: JobSettings;
  claimed: ClaimedJob;
  repository: RepositoryMapping;
  leaseMs: number;
  timeLimitMs: number;
  logBytesMax: number;
  outbox: OutboxLoop;
  random: () => number;
  emit(event: AgentEvent): void;
  onCommands(commands: readonly AgentCommand[]): void;
  onDefect(error: unknown): void;
  onModelAnswer(): void;
  /** The tool failed. Returns how long this job must wait at least. */
  onToolFailure(failure: ToolFailure): number;
  onSetupEnd(end: SetupEnd): void;
  /** The earlier round of the same work, which still tidies up: both use one place. */
  after: Promise<unknown>;
}

/** Starts the work on a claimed job: lease renewal, log upload and command run concurrently. */
export function holdJob(options: HeldJobOptions): HeldJob {
  const { settings, claimed, emit, onDefect } = options;
  const { client, clock } = settings;
  const shared = { client, clock, onDefect };
  const stopping = new AbortController();
  const ended = new AbortController();

  function stop(reason: StopReason, why: string): void {
    if (stopping.signal.aborted || ended.signal.aborted) return;
    emit({ type: 'job-stopping', jobId: claimed.jobId, reason, why });
    stopping.abort({ reason, why } satisfies JobStop);
  }

  const isCanceled = () => (stopping.signal.reason as JobStop | undefined)?.reason === 'canceled';
  const lease = startLease({
    ...shared,
    backoff: createBackoff(options.random),
    renew: createJobRenewal({ client, claimed, onCommands: options.onCommands }),
    claimSentAtMs: claimed.claimSentAtMs,
    leaseMs: options.leaseMs,
    onLost: stop,
  });
  const logLoop = startLogLoop({
    ...shared,
    attempt: claimed,
    logFile: jobDirectory(settings.state, claimed.key).logFile,
    backoff: createBackoff(options.random),
    onCancelRequested: () => stop('canceled', 'The job was canceled.'),
  });

  const timeLimitMs = timeLimitOf(claimed.job, options.timeLimitMs);
  const expire = () => stop('time_limit', exceededTimeLimit(timeLimitMs));
  void clock.sleep(timeLimitMs, ended.signal).then(expire);

  async function work(): Promise<boolean> {
    await options.after;
    const run = claimed.job.landsJobId ? runLanding : runJob;
    const end = await run({
      settings,
      claimed,
      repository: options.repository,
      signal: stopping.signal,
      leaseConfirmed: lease.confirmed,
      logBytesMax: options.logBytesMax,
      onLogGrowth: () => logLoop.wake(),
      onModelAnswer: options.onModelAnswer,
      onOverspent: (why) => stop('budget_spent', why),
      report: withoutRepeats((message) => {
        lease.report(message);
        emit({ type: 'job-progress', jobId: claimed.jobId, message });
      }),
    });
    ended.abort();
    // Before the slot is free, so that the next claim knows.
    if (end.setupEnd !== undefined) options.onSetupEnd(end.setupEnd);
    const waitMs = end.toolFailure === null ? 0 : options.onToolFailure(end.toolFailure);
    const completion = end.completion && delay(end.completion, waitMs);
    await logLoop.stop();
    if (completion !== null) await putResult(options, completion, end, logLoop);
    emit(finishedEvent(claimed, isCanceled() ? null : completion));
    await end.cleanUp();
    return completion !== null;
  }

  async function release(hasResult: boolean): Promise<void> {
    // Keep the lease until the hub answers, so that no other agent starts the job meanwhile.
    if (hasResult) await options.outbox.settled(claimed.key);
    else await removeToolTree(jobDirectory(settings.state, claimed.key).path);
  }

  /** After a defect, too: the lease then runs out by itself. */
  async function finish(): Promise<void> {
    ended.abort();
    await Promise.all([logLoop.stop(), isCanceled() ? lease.release() : lease.stop()]);
  }

  const result = work();
  const released = result.then(release).catch(onDefect).then(finish);
  return { claimed, stop, worked: result.then(() => {}, onDefect), released };
}

/** Tools repeat the title of a call with each of its updates. */
function withoutRepeats(report: (message: string) => void): (message: string) => void {
  let last = '';
  return (message) => {
    if (message !== last) report(message);
    last = message;
  };
}

/** Delays the next attempt, if the completion asks for one. */
function delay(completion: Completion, waitMs: number): Completion {
  const { outcomeReason: reason } = completion;
  if (typeof reason !== 'object' || reason.retryable !== true || waitMs <= 0) return completion;
  const longerMs = Math.max(reason.recommendedDelayMs ?? 0, Math.ceil(waitMs));
  const recommendedDelayMs = Math.min(longerMs, DELAY_MS_MAX);
  return { ...completion, outcomeReason: { ...reason, recommendedDelayMs } };
}

/** The contract's limit of a delay. */
const DELAY_MS_MAX = 86_400_000;

type Completion = NonNullable<Awaited<ReturnType<typeof runJob>>['completion']>;

async function putResult(
  options: HeldJobOptions,
  completion: Completion,
  { patches, answers }: Pick<JobEnd, 'patches' | 'answers'>,
  logLoop: LogLoop,
): Promise<void> {
  await options.outbox.add({
    attempt: attemptOf(options.claimed),
    completion,
    ...patches,
    ...(answers.length === 0 ? {} : { answers }),
    logOffset: logLoop.uploadedBytes(),
    createdAt: new Date(options.settings.clock.nowMs()).toISOString(),
  });
}

function finishedEvent(claimed: ClaimedJob, completion: Completion | null): AgentEvent {
  const { commitSha, branch, verdict } = completion?.evidence ?? {};
  return {
    type: 'job-finished',
    jobId: claimed.jobId,
    attempt: claimed.claimGeneration,
    outcome: completion?.outcome ?? null,
    message: completion?.message ?? '',
    commitSha: commitSha ?? null,
    branch: typeof branch === 'string' ? branch : null,
    verdict: verdicts.find((known) => known === verdict) ?? null,
  };
}
