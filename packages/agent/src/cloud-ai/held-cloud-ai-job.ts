import type { CloudAiJob } from '@signalbox/contract';
import { type Clock, untilAborted } from '../clock.ts';
import type { StopReason } from '../job/attempt.ts';
import type { Redactor } from '../job/redaction.ts';
import { createBackoff } from '../loops/backoff.ts';
import { startLease } from '../loops/lease-loop.ts';
import type { CloudAiHubClient } from './cloud-ai-options.ts';
import {
  type CloudAiAgentOptions,
  type CloudAiEvent,
  cloudAiDefaults,
} from './cloud-ai-options.ts';
import { type CallEnd, callModel } from './model-call.ts';
import { deliverEnd } from './result-delivery.ts';

/** How long an executor that shuts down tries to deliver an answer it already has. */
const FLUSH_MS = 5_000;

/** One claim of a cloud AI job by this executor. */
export interface ClaimedCloudAiJob {
  workspaceId: string;
  agentId: string;
  cloudAiJobId: string;
  claimGeneration: number;
  job: CloudAiJob;
  claimSentAtMs: number;
}

export interface HeldCloudAiJob {
  readonly claimed: ClaimedCloudAiJob;
  /** Aborts the calls. Only the first reason is recorded. */
  stop(reason: StopReason, why: string): void;
  /**
   * Resolves when the job is no longer held: its result was answered, or its lease was released.
   */
  readonly released: Promise<void>;
}

/** The parts that all jobs of an executor share. */
export interface CloudAiParts {
  options: CloudAiAgentOptions;
  client: CloudAiHubClient;
  clock: Clock;
  leaseMs: number;
  random: () => number;
  redactor: Redactor;
  emit(event: CloudAiEvent): void;
}

export interface HeldCloudAiOptions extends CloudAiParts {
  claimed: ClaimedCloudAiJob;
  /** Called when the provider rejects all calls of this executor. */
  onUnserved(message: string): void;
  onDefect(error: unknown): void;
}

/** Runs a claimed job: renews its lease, makes the calls, then delivers the result. */
export function holdCloudAiJob(parts: HeldCloudAiOptions): HeldCloudAiJob {
  const { options, client, claimed, clock, random, redactor, emit, onDefect } = parts;
  const { cloudAiJobId } = claimed;
  const stopping = new AbortController();
  const ended = new AbortController();
  /** Fires when a result can no longer be delivered, or is no longer wanted. */
  const undeliverable = new AbortController();

  function stop(reason: StopReason, why: string): void {
    // A received answer is already paid for, so a shutdown still tries to deliver it.
    if (reason === 'agent_stopped')
      void clock.sleep(FLUSH_MS, ended.signal).then(() => undeliverable.abort());
    else undeliverable.abort();
    if (stopping.signal.aborted) return;
    emit({ type: 'job-stopping', cloudAiJobId, reason, why });
    stopping.abort(reason);
  }

  const lease = startLease({
    clock,
    onDefect,
    claimSentAtMs: claimed.claimSentAtMs,
    renew: (request, call) => client.cloudAiJobs.heartbeat({ ...refOf(claimed), ...request }, call),
    leaseMs: parts.leaseMs,
    backoff: createBackoff(random),
    onLost: stop,
  });

  async function work(): Promise<void> {
    await Promise.race([lease.confirmed, untilAborted(stopping.signal)]);
    const end = await callModel({
      clock,
      job: claimed.job,
      provider: options.provider,
      signal: stopping.signal,
      modelDefault: options.models[0],
      outputTokensMax: options.outputTokensMax,
      timeLimitMs: options.jobTimeLimitMs ?? cloudAiDefaults.jobTimeLimitMs,
      backoff: createBackoff(random),
      onRetry({ message, delayMs }) {
        const text = redactor.redact(message);
        lease.report(text);
        emit({ type: 'call-retry', cloudAiJobId, message: text, delayMs });
      },
    });
    const clean = redactEnd(end, redactor);
    emit(finishedEvent(cloudAiJobId, clean));
    if (clean.outcome === 'unserved') parts.onUnserved(clean.message);
    if (clean.outcome === 'done' || clean.outcome === 'failed') {
      const delivery = { client, clock, random, emit, ref: refOf(claimed), end: clean };
      await deliverEnd({ ...delivery, signal: undeliverable.signal });
      await lease.stop();
    } else {
      // A lost lease cannot be released.
      await (stopping.signal.reason === 'lease_lost' ? lease.stop() : lease.release());
    }
  }

  /** After a defect, too: the lease then runs out by itself. */
  async function finish(): Promise<void> {
    ended.abort();
    await lease.stop();
  }

  return { claimed, stop, released: work().catch(onDefect).then(finish) };
}

function refOf({ workspaceId, agentId, cloudAiJobId, claimGeneration }: ClaimedCloudAiJob) {
  return { workspaceId, agentId, cloudAiJobId, claimGeneration };
}

/** Redacts the message: providers often quote a part of the key when they reject a request. */
function redactEnd(end: CallEnd, redactor: Redactor): CallEnd {
  return 'message' in end ? { ...end, message: redactor.redact(end.message) } : end;
}

function finishedEvent(cloudAiJobId: string, end: CallEnd): CloudAiEvent {
  const isEnd = end.outcome === 'done' || end.outcome === 'failed';
  return {
    type: 'job-finished',
    cloudAiJobId,
    outcome: isEnd ? end.outcome : null,
    message: 'message' in end ? end.message : '',
    usage: 'usage' in end ? (end.usage ?? null) : null,
  };
}
