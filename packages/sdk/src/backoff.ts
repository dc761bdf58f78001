import { ApiError, UnreachableError } from './errors.ts';

/** The ceiling of the first wait; it doubles with every attempt. */
const BACKOFF_BASE_MS = 250;
const BACKOFF_MAX_MS = 10_000;
/** A hub that asks for a longer pause is not waited for: the caller learns it and decides. */
export const RETRY_AFTER_MS_MAX = 60_000;

const STATUS_TOO_MANY_REQUESTS = 429;
/** The hub is stopping (503), or a proxy found no hub (502, 504): the outcome is unknown. */
const unavailableStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

export interface FailedAttempt {
  error: unknown;
  /** 1 for the first. */
  attempt: number;
  attemptsMax: number;
  /** A lost answer may be asked for again. */
  repeatable: boolean;
  /** In [0, 1). */
  random: () => number;
}

/**
 * How long to wait before the next attempt; null: do not retry. Full jitter (a random share of an
 * exponential ceiling), so that the agents of a hub that comes back do not all return at once;
 * Retry-After comes before it, never instead of it, for the same reason. 429 is retried whatever
 * the call, because the hub refuses before it acts.
 */
export function retryDelayMs(failed: FailedAttempt): number | null {
  const { error, attempt } = failed;
  if (attempt >= failed.attemptsMax || !isPassing(error, failed.repeatable)) return null;
  const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  if (retryAfterMs > RETRY_AFTER_MS_MAX) return null;
  const ceilingMs = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** (attempt - 1));
  return retryAfterMs + Math.floor(failed.random() * ceilingMs);
}

function isPassing(error: unknown, repeatable: boolean): boolean {
  if (error instanceof UnreachableError) return repeatable;
  if (!(error instanceof ApiError)) return false;
  if (error.status === STATUS_TOO_MANY_REQUESTS) return true;
  return repeatable && unavailableStatuses.has(error.status);
}

/**
 * The pause that a Retry-After header asks for; null when there is none or it cannot be read. A
 * date is compared with the hub's own clock where the answer tells it (`Date`), because the two
 * machines need not agree.
 */
export function readRetryAfterMs(headers: Headers, nowMs: number): number | null {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const untilMs = Date.parse(value);
  if (Number.isNaN(untilMs)) return null;
  const hubNowMs = Date.parse(headers.get('date') ?? '');
  return Math.max(0, untilMs - (Number.isNaN(hubNowMs) ? nowMs : hubNowMs));
}
