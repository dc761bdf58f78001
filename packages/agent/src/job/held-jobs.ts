import assert from 'node:assert/strict';
import type { Job } from '@signalbox/contract';
import type { AgentEvent } from '../agent-events.ts';
import { type AgentOptions, type AgentRepository, agentDefaults } from '../agent-options.ts';
import type { Executor, ExecutorTool } from '../executors/executor.ts';
import type { HeldWork, Work, WorkHooks } from '../lifecycle.ts';
import { createBackoff } from '../loops/backoff.ts';
import type { Outbox, OutboxEntry } from '../loops/outbox.ts';
import type { Settlement } from '../loops/outbox-delivery.ts';
import { startOutboxLoop } from '../loops/outbox-loop.ts';
import { startReleaseLoop } from '../loops/release-loop.ts';
import type { OfferedTools } from '../offered-tools.ts';
import type { Attempt, ClaimedJob } from './attempt.ts';
import { type ClaimAccounts, createClaimAccounts } from './claim-accounts.ts';
import type { ClaimRecord } from './claim-record.ts';
import { type HeldJob, holdJob } from './held-job.ts';
import { createJobClaim } from './job-calls.ts';
import { CANCELED_CODE, completionOfUnknownRepository } from './job-result.ts';
import type { JobSettings } from './job-work.ts';
import { createPatchSharing } from './patch-sharing.ts';
import { workIdOf } from './work-record.ts';

export interface JobWorkOptions extends WorkHooks {
  options: AgentOptions;
  /** For repositories without settings of their own. */
  settings: JobSettings;
  /** The tools of all repositories, checked. */
  tools: ReadonlyMap<Executor, ExecutorTool>;
  offeredTools: OfferedTools;
  outbox: Outbox;
  claims: ClaimRecord;
  /** Attempts that an earlier process of this agent has left. */
  abandoned: readonly Attempt[];
  leaseMs: number;
  random: () => number;
  emit(event: AgentEvent): void;
}

/** Starts the outbox loop and runs jobs claimed from the queue. */
export function startJobWork(parts: JobWorkOptions): Work {
  const { options, settings, claims, random, emit, onFault: onDefect } = parts;
  const { client, clock, state } = settings;
  const shared = { client, clock, onDefect };
  const held = new Map<string, HeldJob>();
  const releases = new Set<Promise<void>>();
  const outbox = startOutboxLoop({
    ...shared,
    workspaceId: options.workspaceId,
    state,
    outbox: parts.outbox,
    backoff: createBackoff(random),
    onSettled: (entry, settlement) => reportSettlement(parts, entry, settlement),
  });
  const releasing = startReleaseLoop({
    ...shared,
    attempts: parts.abandoned,
    backoff: createBackoff(random),
  });
  const accounts = accountsOf(parts);
  const sharing = createPatchSharing({ ...parts, settingsFor: (one) => settingsFor(one, parts) });

  function begin(claimed: ClaimedJob): void {
    emit({ type: 'job-claimed', job: claimed.job, attempt: claimed.claimGeneration });
    const repository = options.repositories.find(({ repoId }) => repoId === claimed.job.repoId);
    if (repository === undefined) {
      outbox.add(completionOfUnknownRepository(claimed, clock.nowMs())).catch(onDefect);
      return;
    }
    const account = accounts.hold(claimed.key, claimed.job);
    const job = holdJob({
      ...parts,
      outbox,
      onDefect,
      claimed,
      repository,
      after: untilWorked(held, claimed.job),
      settings: settingsFor(repository, parts),
      onModelAnswer: () => accounts.onAnswer(account),
      onToolFailure: (failure) => accounts.onFailure(failure, account, claimed.job),
      onSetupEnd: (end) => accounts.onSetupEnd(repository.repoId, end),
      ...limitsOf(options),
    });
    held.set(claimed.key, job);
    releases.add(job.released);
    void job.worked.then(() => {
      held.delete(claimed.key);
      accounts.release(claimed.key);
      parts.onSlotFree();
    });
    void job.released.then(() => releases.delete(job.released));
  }

  async function settle(canDeliver: boolean): Promise<void> {
    await Promise.all([...held.values()].map(({ worked }) => worked));
    const flushed = new AbortController();
    const flushMs = canDeliver ? (options.flushMs ?? agentDefaults.flushMs) : 0;
    await Promise.race([outbox.empty(), clock.sleep(flushMs, flushed.signal)]);
    flushed.abort();
    await Promise.all([outbox.stop(), releasing.stop(), sharing.stop(), ...releases]);
    await claims.leave(releasing.left()).catch(onDefect);
  }

  return {
    claim: createJobClaim({
      ...parts,
      client,
      workspaceId: options.workspaceId,
      onClaimed: begin,
      held: () => [...releasing.left(), ...[...held.values()].map(({ claimed }) => claimed)],
      repoIds: () => accounts.claimable(),
    }),
    held: heldWorkOf(held, settle),
    sharePatch: sharing.ask,
    isClaimResumed: claims.isResumed,
    // An agent without repositories asks, so that the hub can tell it why it gets nothing.
    mayClaim: () => options.repositories.length === 0 || accounts.claimable().length > 0,
    shown: () => ({ ...accounts.shown(), tools: parts.offeredTools() }),
    stop: () => accounts.stop(),
  };
}

function heldWorkOf(held: ReadonlyMap<string, HeldJob>, settle: HeldWork['settle']): HeldWork {
  return {
    // A job whose work is over occupies no slot, even while its result is being delivered.
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
    settle,
  };
}

/** Resolves when no job of the same work is being worked on. */
function untilWorked(held: ReadonlyMap<string, HeldJob>, job: Job): Promise<unknown> {
  const sameWork = [...held.values()].filter(
    ({ claimed }) => workIdOf(claimed.job) === workIdOf(job),
  );
  return Promise.all(sameWork.map(({ worked }) => worked));
}

function limitsOf(options: AgentOptions) {
  return {
    timeLimitMs: options.jobTimeLimitMs ?? agentDefaults.jobTimeLimitMs,
    logBytesMax: options.logBytesMax ?? agentDefaults.logBytesMax,
  };
}

function accountsOf(parts: JobWorkOptions): ClaimAccounts {
  const { options, settings, random, emit, onShown, onClaimable } = parts;
  return createClaimAccounts({
    clock: settings.clock,
    random,
    emit,
    onShown,
    onClaimable,
    repositories: new Map(
      options.repositories.map((one) => [
        one.repoId,
        { ...settingsFor(one, parts), path: one.path },
      ]),
    ),
  });
}

/** The settings of the agent, with those of a repository in their place. */
function settingsFor(
  { executor: own, holdMs, environment }: AgentRepository,
  { settings, options, tools }: JobWorkOptions,
): JobSettings {
  const executor = own ?? options.executor;
  const tool = tools.get(executor);
  assert.ok(tool, 'the tool of every repository was checked');
  const env = { ...settings.env, ...environment };
  return { ...settings, executor, tool, env, holdMs: holdMs ?? settings.holdMs };
}

function reportSettlement(
  { emit }: JobWorkOptions,
  { attempt: { jobId, claimGeneration }, completion: { outcomeReason } }: OutboxEntry,
  settlement: Settlement,
): void {
  const common = { jobId, attempt: claimGeneration };
  if (settlement.accepted) {
    emit({ type: 'result-accepted', ...common, status: settlement.status });
    return;
  }
  const { code, message } = settlement;
  // The hub takes the usage of a canceled attempt and refuses its result, as it should.
  if (typeof outcomeReason === 'object' && outcomeReason.code === CANCELED_CODE) return;
  emit({ type: 'result-refused', ...common, code, message });
}
