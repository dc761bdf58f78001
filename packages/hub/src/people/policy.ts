import type { SessionRow } from './store.ts';

/** A session ends when it was not used for this long (security requirement 4). */
export const SESSION_IDLE_MS = 8 * 60 * 60 * 1_000;
/** A session ends this long after the sign-in, even if it is in use. */
export const SESSION_MS = 7 * 24 * 60 * 60 * 1_000;
/** The precision of `lastSeenAt`, so that not every request writes. */
const SEEN_STEP_MS = 60 * 1_000;

const CLOCK_DIFFERENCE_MS_MAX = 60 * 1_000;

type SessionTimes = Pick<SessionRow, 'expires_at' | 'last_seen_at' | 'revoked_at'>;

/** When a session expires if it is not used again. */
export function endOfSession(session: Omit<SessionTimes, 'revoked_at'>): number {
  return Math.min(session.expires_at, session.last_seen_at + SESSION_IDLE_MS);
}

export function isSessionLive(session: SessionTimes, nowMs: number): boolean {
  // Several hubs may differ a little; by more, the clock was set back, and no age means anything.
  const isUsedLater = session.last_seen_at - nowMs > CLOCK_DIFFERENCE_MS_MAX;
  return session.revoked_at === null && nowMs < endOfSession(session) && !isUsedLater;
}

/** Whether `last_seen_at` is old enough to be written again. */
export function isSightingDue(session: SessionTimes, nowMs: number): boolean {
  return nowMs - session.last_seen_at >= SEEN_STEP_MS;
}
