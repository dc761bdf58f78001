import type { CallOptions } from '@signalbox/sdk';
import type { Clock } from '../clock.ts';
import { type Failure, judgeFailure } from '../hub-client.ts';
import type { StopReason } from '../job/attempt.ts';
import type { Backoff } from './backoff.ts';
import { createLeaseTerm } from './lease-term.ts';
import { startLoop, UNTIL_WOKEN_MS } from './loop.ts';

const CALL_TIMEOUT_MS = 10_000;
/** After a failure, retry before this fraction (one in N) of the remaining lease has passed. */
const TRIES_IN_REST = 4;
const TRY_MS_MIN = 50;
/** The shortest lease, requested to release a job. */
export const LEASE_LET_GO_MS = 1_000;

/** Sends one renewal to the endpoint of the agent's queue. */
export type RenewCall = (
  request: { leaseMs: number; shorten?: boolean; message?: string },
  call: CallOptions,
) => Promise<{ cancelRequested: boolean }>;

export interface Lease {
  /**
   * Resolves when the lease is known to be held: immediately after a prompt claim; after a claim
   * with a late answer (a retry, a sleeping machine) once the first renewal succeeds.
   */
  confirmed: Promise<void>;
  /** Sends this progress for the timeline with the next renewal. */
  report(progress: string): void;
  /** Ends the renewals. The lease at the hub stays unchanged. */
  stop(): Promise<void>;
  /** Shortens the lease to the minimum, so that the hub can settle a canceled job. */
  release(): Promise<void>;
}

/**
 * Renews the lease of one job until the hub has answered its completion: until then the job must
 * not go to another agent.
 *
 * Stopping the loop does not cancel the job, and the loop never ends the job's process. It calls
 * `onLost`, once, when the agent may no longer act as the holder: the hub said so, or no renewal
 * succeeded before the lease ran out by the agent's own clock.
 */
export function startLease(options: {
  renew: RenewCall;
  /** When the claim was first sent (monotonic). */
  claimSentAtMs: number;
  leaseMs: number;
  clock: Clock;
  backoff: Backoff;
  onLost(reason: StopReason, why: string): void;
  onDefect(error: unknown): void;
}): Lease {
  const { leaseMs, clock, backoff } = options;
  const confirmed = Promise.withResolvers<void>();
  const term = createLeaseTerm(clock, leaseMs, options.claimSentAtMs);
  let progress: string | undefined;
  let isLost = false;
  if (term.isCertain()) confirmed.resolve();

  function lose(reason: StopReason, why: string): number {
    if (!isLost) options.onLost(reason, why);
    isLost = true;
    return UNTIL_WOKEN_MS;
  }

  async function renew(extra: { leaseMs: number; shorten?: boolean }, timeoutMs: number) {
    const message = progress;
    progress = undefined;
    return await options.renew(
      { ...extra, ...(message === undefined ? {} : { message }) },
      { timeoutMs },
    );
  }

  async function runOnce(): Promise<number> {
    if (isLost) return UNTIL_WOKEN_MS;
    if (term.isOver()) {
      return lose('lease_lost', 'The lease expired before the hub could be reached.');
    }
    if (!term.isRenewalDue()) return term.pauseMs();
    try {
      const sentAtMs = clock.monotonicMs();
      const answer = await renew({ leaseMs }, Math.min(CALL_TIMEOUT_MS, term.remainingMs()));
      backoff.reset();
      term.renew(sentAtMs);
      confirmed.resolve();
      if (answer.cancelRequested) return lose('canceled', 'The job was canceled.');
      return term.pauseMs();
    } catch (error) {
      return afterTrouble(judgeFailure(error));
    }
  }

  function afterTrouble(failure: Failure): number {
    if (failure.kind === 'refused') {
      return lose(failure.code === 'JOB_CANCELED' ? 'canceled' : 'lease_lost', failure.message);
    }
    const retryAfterMs = failure.kind === 'retry' ? failure.retryAfterMs : 0;
    // Retry more often as the lease nears its end: losing the job costs more than a few requests.
    const urgentMs = term.remainingMs() / TRIES_IN_REST + TRY_MS_MIN;
    return Math.min(backoff.nextDelayMs(retryAfterMs), urgentMs);
  }

  const loop = startLoop({ clock, runOnce, onDefect: options.onDefect });
  return {
    confirmed: confirmed.promise,
    report(text) {
      progress = text;
    },
    stop: () => loop.stop(),
    async release() {
      await loop.stop();
      try {
        await renew({ leaseMs: LEASE_LET_GO_MS, shorten: true }, CALL_TIMEOUT_MS);
      } catch (error) {
        // If this fails, the lease expires by itself; that only takes longer.
        judgeFailure(error);
      }
    },
  };
}
