import { ApiError, UnreachableError } from './errors.ts';

/** The maximum of the first wait. It doubles with every attempt. */
const BACKOFF_BASE_MS = 250;
const BACKOFF_MAX_MS = 10_000;
/** If the hub asks for a longer pause, the call fails and the caller decides. */
const RETRY_AFTER_MS_MAX = 60_000;

/** The hub did not act: the request did not arrive whole in time (408), or it was refused (429). */
const unactedStatuses: ReadonlySet<number> = new Set([408, 429]);
/** The hub is stopping (503), or a proxy found no hub (502, 504). The outcome is unknown. */
const unavailableStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

export interface FailedAttempt {
  error: unknown;
  /** 1 for the first. */
  attempt: number;
  attemptsMax: number;
  /** Whether the call may be sent again when its answer was lost. */
  repeatable: boolean;
  /** In [0, 1). */
  random: () => number;
}

/**
 * Returns how long to wait before the next attempt, or null to stop retrying. It uses full jitter,
 * a random part of an exponential maximum, so that the agents of a hub that becomes available again
 * do not all return at once. For the same reason the jitter is added to Retry-After. 408 and 429
 * are retried for every call, because the hub has not acted.
 */
export function retryDelayMs(failed: FailedAttempt): number | null {
  const { error, attempt } = failed;
  if (attempt >= failed.attemptsMax || !isTransient(error, failed.repeatable)) return null;
  const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  if (retryAfterMs > RETRY_AFTER_MS_MAX) return null;
  const maximumMs = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** (attempt - 1));
  return retryAfterMs + Math.floor(failed.random() * maximumMs);
}

function isTransient(error: unknown, repeatable: boolean): boolean {
  if (error instanceof UnreachableError) return repeatable;
  if (!(error instanceof ApiError)) return false;
  if (unactedStatuses.has(error.status)) return true;
  return repeatable && unavailableStatuses.has(error.status);
}

/**
 * Reads the pause from a Retry-After header, or returns null without a valid one. A date is
 * compared with the hub's clock if the answer has it (`Date`), because the clocks of the two
 * machines may differ.
 */
export function readRetryAfterMs(headers: Headers, nowMs: number): number | null {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const untilMs = Date.parse(value);
  if (Number.isNaN(untilMs)) return null;
  const hubNowMs = Date.parse(headers.get('date') ?? '');
  return Math.max(0, untilMs - (Number.isNaN(hubNowMs) ? nowMs : hubNowMs));
}
