import type { Clock } from '../clock.ts';

/** Two renewals may fail before the lease is in danger. */
const RENEWALS_PER_LEASE = 3;
/**
 * A machine that sleeps stops the monotonic clock but not the wall clock. When the two have moved
 * apart, the lease may be over long since: it is renewed at once, which is also how one learns.
 */
const SLEEP_CHECK_MS = 15_000;
const SLEPT_MS_MIN = 5_000;

/**
 * What the agent may believe about its lease, by its own clock alone. A term counts from the
 * moment at which the request was *sent*: the hub's began later, so the agent never holds a lease
 * longer than the hub does.
 */
export interface LeaseTerm {
  /** False after a claim that was answered late (a retry): when it began is anybody's guess. */
  isCertain(): boolean;
  isOver(): boolean;
  isRenewalDue(): boolean;
  /** A renewal that was sent at this time has been answered. */
  renew(sentAtMs: number): void;
  /** Until the lease is over. */
  remainingMs(): number;
  /** Until there may be something to do. */
  pauseMs(): number;
}

export function createLeaseTerm(clock: Clock, leaseMs: number, claimSentAtMs: number): LeaseTerm {
  const renewalMs = leaseMs / RENEWALS_PER_LEASE;
  const clocksApart = () => clock.nowMs() - clock.monotonicMs();
  let renewAtMs = claimSentAtMs + renewalMs;
  let endsAtMs = claimSentAtMs + leaseMs;
  let apartMs = clocksApart();
  let isCertain = clock.monotonicMs() < renewAtMs;
  // Answered late: the hub may count from any moment since. The first renewal will tell.
  if (!isCertain) endsAtMs = clock.monotonicMs() + leaseMs;

  return {
    isCertain: () => isCertain,
    isOver: () => clock.monotonicMs() >= endsAtMs,
    isRenewalDue: () => clock.monotonicMs() >= renewAtMs || clocksApart() - apartMs > SLEPT_MS_MIN,
    renew(sentAtMs) {
      renewAtMs = sentAtMs + renewalMs;
      endsAtMs = sentAtMs + leaseMs;
      apartMs = clocksApart();
      isCertain = true;
    },
    remainingMs: () => Math.max(0, endsAtMs - clock.monotonicMs()),
    pauseMs: () => Math.max(0, Math.min(renewAtMs - clock.monotonicMs(), SLEEP_CHECK_MS)),
  };
}
