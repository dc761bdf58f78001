import type { LiveState } from '../live/live-source.ts';
import { formatSince } from './time.ts';

/** Shorter breaks, such as a proxy that ends old connections, need no banner. */
const BANNER_AFTER_MS = 1_500;
/** A hub that restarts is back sooner than this. */
const OFFLINE_AFTER_MS = 10_000;

/** The state of the connection: "live", "reconnecting" or "offline since 14:02". */
export function signWords(state: LiveState, nowMs: number): string {
  if (state.kind !== 'lost') return state.kind;
  return isOffline(state, nowMs)
    ? `offline since ${formatSince(state.sinceMs, nowMs)}`
    : 'reconnecting';
}

/** The words of the banner about a lost connection; null: it is not shown. */
export function bannerWords(state: LiveState, nowMs: number): string | null {
  if (state.kind !== 'lost' || nowMs - state.sinceMs < BANNER_AFTER_MS) return null;
  const seconds = Math.max(1, Math.ceil((state.retryAtMs - nowMs) / 1_000));
  return isOffline(state, nowMs)
    ? `Offline since ${formatSince(state.sinceMs, nowMs)}, next try in ${seconds} s`
    : `Reconnecting in ${seconds} s`;
}

function isOffline(state: LiveState & { kind: 'lost' }, nowMs: number): boolean {
  return nowMs - state.sinceMs >= OFFLINE_AFTER_MS;
}
