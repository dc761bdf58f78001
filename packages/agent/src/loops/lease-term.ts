import type { Clock } from '../clock.ts';

/** Two renewals may fail before the lease is at risk. */
const RENEWALS_PER_LEASE = 3;
/**
 * Sleep stops a machine's monotonic clock but not its wall clock. When the two have diverged, the
 * lease may have expired long ago, so it is renewed immediately; the hub's answer settles it.
 */
const SLEEP_CHECK_MS = 15_000;
const SLEPT_MS_MIN = 5_000;

/**
 * The state of a lease as the agent may assume it, based on its own clock. A term counts from when
 * the request was *sent*. The hub's term began later, so the agent never believes in a lease longer
 * than the hub does.
 */
export function createLeaseTerm(clock: Clock, leaseMs: number, claimSentAtMs: number) {
  const renewalMs = leaseMs / RENEWALS_PER_LEASE;
  const clocksApart = () => clock.nowMs() - clock.monotonicMs();
  let renewAtMs = claimSentAtMs + renewalMs;
  let endsAtMs = claimSentAtMs + leaseMs;
  let apartMs = clocksApart();
  let isCertain = clock.monotonicMs() < renewAtMs;
  // Late answer: the hub's term may have begun at any time since the claim. The first renewal
  // settles it.
  if (!isCertain) endsAtMs = clock.monotonicMs() + leaseMs;

  return {
    /** False after a claim with a late answer (a retry): the start of the lease is unknown. */
    isCertain: () => isCertain,
    isOver: () => clock.monotonicMs() >= endsAtMs,
    isRenewalDue: () => clock.monotonicMs() >= renewAtMs || clocksApart() - apartMs > SLEPT_MS_MIN,
    /** Records the answer to a renewal that was sent at this time. */
    renew(sentAtMs: number): void {
      renewAtMs = sentAtMs + renewalMs;
      endsAtMs = sentAtMs + leaseMs;
      apartMs = clocksApart();
      isCertain = true;
    },
    /** Time until the lease expires. */
    remainingMs: () => Math.max(0, endsAtMs - clock.monotonicMs()),
    /** Time until the next check. */
    pauseMs: () => Math.max(0, Math.min(renewAtMs - clock.monotonicMs(), SLEEP_CHECK_MS)),
  };
}
