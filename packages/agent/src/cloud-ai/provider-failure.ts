import { APICallError } from '@ai-sdk/provider';

/** How to react to a failed call of a provider. */
export type ProviderFailure =
  /** The same call may succeed later. */
  | { kind: 'retry'; retryAfterMs: number; message: string }
  /** The provider rejects this particular call. */
  | { kind: 'final'; message: string }
  /** The provider rejects the caller (key, model, credit), so no other call can succeed either. */
  | { kind: 'settings'; message: string };

/** 402: no credit. 404: wrong base URL or model; both are settings of the executor. */
const settingsStatuses = new Set([401, 402, 403, 404]);
/** OpenAI also answers 429 when the account has no credit left; waiting does not fix that. */
const settingsCodes = /insufficient_quota|billing_(hard_limit|error)|invalid_api_key/;
/** Longer messages add nothing useful. */
const MESSAGE_CHARS_MAX = 1_000;

/**
 * Classifies an error thrown by a provider call. The libraries throw various errors for answers
 * that they cannot parse, so an error that is not an API error counts as temporary. The number of
 * retries is small.
 */
export function judgeProviderFailure(error: unknown, nowMs: number): ProviderFailure {
  if (!APICallError.isInstance(error)) {
    const message = `The provider's answer is not readable: ${textOf(error)}`;
    return { kind: 'retry', retryAfterMs: 0, message };
  }
  const { statusCode, responseHeaders = {}, responseBody = '' } = error;
  const status = statusCode === undefined ? '' : `${statusCode}: `;
  const message = `The provider answers ${status}${textOf(error)}`;
  if (statusCode !== undefined && settingsStatuses.has(statusCode)) {
    return { kind: 'settings', message };
  }
  if (settingsCodes.test(responseBody)) return { kind: 'settings', message };
  // A truncated or non-JSON body comes from a proxy between the agent and the provider.
  const isUnreadable = statusCode !== undefined && statusCode < 300;
  if (!error.isRetryable && !isUnreadable) return { kind: 'final', message };
  return { kind: 'retry', retryAfterMs: readRetryAfterMs(responseHeaders, nowMs), message };
}

/** Reads the requested delay: in ms, in seconds, or as a date. */
function readRetryAfterMs(headers: Record<string, string>, nowMs: number): number {
  const exactMs = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (exactMs >= 0) return exactMs;
  const text = headers['retry-after'];
  if (text === undefined) return 0;
  const seconds = Number(text);
  const delayMs = Number.isNaN(seconds) ? Date.parse(text) - nowMs : seconds * 1_000;
  return delayMs > 0 ? delayMs : 0;
}

function textOf(error: unknown): string {
  const line = (error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').trim();
  return line.length <= MESSAGE_CHARS_MAX ? line : `${line.slice(0, MESSAGE_CHARS_MAX)}…`;
}
