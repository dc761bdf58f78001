import type { Clock } from '../clock.ts';
import { type CallOptions, type Failure, judgeFailure } from '../hub-client.ts';
import type { StopReason } from '../job/attempt.ts';
import type { Backoff } from './backoff.ts';
import { createLeaseTerm } from './lease-term.ts';
import { startLoop, UNTIL_WOKEN_MS } from './loop.ts';

const CALL_TIMEOUT_MS = 10_000;
/** After a failure the next try comes before so large a part of what is left has gone. */
const TRIES_IN_REST = 4;
const TRY_MS_MIN = 50;
/** The shortest lease there is; asked for to let a canceled job go. */
const LEASE_LET_GO_MS = 1_000;

/** Renews once, at whichever queue's endpoint. */
export type RenewCall = (
  request: { leaseMs: number; shorten?: boolean; message?: string },
  call: CallOptions,
) => Promise<{ cancelRequested: boolean }>;

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
 * lease ran out by the agent's own clock.
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
      return lose('lease_lost', 'The hub could not be reached until the lease ran out.');
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
    // The shorter the rest of the lease, the more often: a job is worth more than a few requests.
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
    async letGo() {
      await loop.stop();
      try {
        await renew({ leaseMs: LEASE_LET_GO_MS, shorten: true }, CALL_TIMEOUT_MS);
      } catch (error) {
        // Refused or unreachable: then the lease ends by itself, which is only slower.
        judgeFailure(error);
      }
    },
  };
}
