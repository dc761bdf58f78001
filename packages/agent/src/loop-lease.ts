import type { AgentCommand } from '@signalbox/contract';
import type { ClaimedJob, StopReason } from './attempt.ts';
import type { Backoff } from './backoff.ts';
import { type Clock, limitSignal } from './clock.ts';
import { type Failure, type HubClient, judgeFailure } from './hub-client.ts';
import { startLoop, UNTIL_WOKEN_MS } from './loop.ts';

/** Two renewals may fail before the lease is in danger. */
const RENEWALS_PER_LEASE = 3;
const CALL_TIMEOUT_MS = 10_000;
/** The shortest lease there is; asked for to let a canceled job go. */
const LEASE_LET_GO_MS = 1_000;

export interface Lease {
  /**
   * Resolves when the lease is known to be held. At once after a prompt claim; after a claim that
   * was answered late (a retry, a sleeping machine) the first renewal has to succeed before.
   */
  confirmed: Promise<void>;
  /** The next renewal carries this as progress for the timeline. */
  report(progress: string): void;
  /** Ends the renewals. The lease itself stays what it is at the hub. */
  stop(): Promise<void>;
  /** Shortens the lease as far as possible, so that the hub can settle a canceled job. */
  letGo(): Promise<void>;
}

/**
 * Keeps the lease of one job for as long as the attempt lasts, its result included: until the hub
 * has answered the completion, the job must not go to another agent.
 *
 * Stopping is not cancelling. This loop never ends the job's process. It says `onLost`, once, when
 * the agent may no longer act as the holder: the hub said so, or no renewal got through until the
 * lease ran out by the agent's own clock. That clock starts when a request is *sent*, so the agent
 * gives up no later than the hub does.
 */
export function startLease(options: {
  client: HubClient;
  claimed: ClaimedJob;
  leaseMs: number;
  clock: Clock;
  backoff: Backoff;
  onLost(reason: StopReason, why: string): void;
  onCommands(commands: readonly AgentCommand[]): void;
  onDefect(error: unknown): void;
}): Lease {
  const { client, claimed, leaseMs, clock, backoff } = options;
  const renewalMs = leaseMs / RENEWALS_PER_LEASE;
  const confirmed = Promise.withResolvers<void>();
  let renewAtMs = claimed.claimSentAtMs + renewalMs;
  let endsAtMs = claimed.claimSentAtMs + leaseMs;
  let progress: string | undefined;
  let isLost = false;

  if (clock.monotonicMs() < renewAtMs) {
    confirmed.resolve();
  } else {
    // Answered late: the hub may count from any moment since. The first renewal will tell.
    endsAtMs = clock.monotonicMs() + leaseMs;
  }

  function lose(reason: StopReason, why: string): number {
    if (!isLost) options.onLost(reason, why);
    isLost = true;
    return UNTIL_WOKEN_MS;
  }

  async function renew(extra: { leaseMs: number; shorten?: boolean }, signal: AbortSignal) {
    const { workspaceId, jobId, agentId, claimGeneration } = claimed;
    const message = progress;
    progress = undefined;
    return await client.jobs.heartbeat(
      {
        ...{ workspaceId, jobId, agentId, claimGeneration, ...extra },
        ...(message === undefined ? {} : { message }),
      },
      { signal },
    );
  }

  async function runOnce(): Promise<number> {
    const nowMs = clock.monotonicMs();
    if (nowMs >= endsAtMs && !isLost) {
      return lose('lease_lost', 'The hub could not be reached until the lease ran out.');
    }
    if (isLost) return UNTIL_WOKEN_MS;
    if (nowMs < renewAtMs) return renewAtMs - nowMs;
    try {
      const timeoutMs = Math.min(CALL_TIMEOUT_MS, endsAtMs - nowMs);
      const answer = await renew({ leaseMs }, limitSignal(timeoutMs));
      backoff.reset();
      endsAtMs = nowMs + leaseMs;
      renewAtMs = nowMs + renewalMs;
      confirmed.resolve();
      options.onCommands(answer.commands);
      if (answer.cancelRequested) return lose('canceled', 'The job was canceled.');
      return renewAtMs - clock.monotonicMs();
    } catch (error) {
      return afterTrouble(judgeFailure(error));
    }
  }

  function afterTrouble(failure: Failure): number {
    if (failure.kind === 'refused') {
      return lose(failure.code === 'JOB_CANCELED' ? 'canceled' : 'lease_lost', failure.message);
    }
    const retryAfterMs = failure.kind === 'retry' ? failure.retryAfterMs : 0;
    const delayMs = Math.min(backoff.nextDelayMs(retryAfterMs), renewalMs);
    return Math.max(0, Math.min(delayMs, endsAtMs - clock.monotonicMs()));
  }

  const loop = startLoop({ clock, runOnce, onDefect: options.onDefect });
  return {
    confirmed: confirmed.promise,
    report(text) {
      progress = text;
    },
    stop: () => loop.stop(),
    async letGo() {
      await loop.stop();
      try {
        await renew({ leaseMs: LEASE_LET_GO_MS, shorten: true }, limitSignal(CALL_TIMEOUT_MS));
      } catch (error) {
        // Refused or unreachable: then the lease ends by itself, which is only slower.
        judgeFailure(error);
      }
    },
  };
}
