import type { SessionRow } from './store.ts';

/** A session ends when it was not used for so long (security requirement 4). */
export const SESSION_IDLE_MS = 8 * 60 * 60 * 1_000;
/** A session ends so long after the sign-in, used or not. */
export const SESSION_MS = 7 * 24 * 60 * 60 * 1_000;
/** How exact `lastSeenAt` is. */
const SEEN_STEP_MS = 60 * 1_000;

type SessionTimes = Pick<SessionRow, 'expires_at' | 'last_seen_at' | 'revoked_at'>;

/** When a session ends by itself if nobody uses it any more. */
export function endOfSession(session: Omit<SessionTimes, 'revoked_at'>): number {
  return Math.min(session.expires_at, session.last_seen_at + SESSION_IDLE_MS);
}

export function isSessionLive(session: SessionTimes, nowMs: number): boolean {
  return session.revoked_at === null && nowMs < endOfSession(session);
}

export function isSightingDue(session: SessionTimes, nowMs: number): boolean {
  return nowMs - session.last_seen_at >= SEEN_STEP_MS;
}
