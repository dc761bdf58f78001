import { APICallError } from '@ai-sdk/provider';

/** What a failed call of a provider means. */
export type ProviderFailure =
  /** The same call may succeed later. */
  | { kind: 'retry'; retryAfterMs: number; message: string }
  /** The provider refuses this very call. */
  | { kind: 'final'; message: string }
  /** The provider refuses whoever calls: no key, no model, no credit. No other call can succeed. */
  | { kind: 'settings'; message: string };

/** 402: no credit. 404: the address or the model, both of which are settings of the executor. */
const settingsStatuses = new Set([401, 402, 403, 404]);
/** OpenAI answers 429 also when the account has run out of credit, which waiting does not mend. */
const settingsCodes = /insufficient_quota|billing_(hard_limit|error)|invalid_api_key/;
/** Beyond this a message helps nobody. */
const MESSAGE_CHARS_MAX = 1_000;

/**
 * Sorts what a call of a provider threw. The libraries throw all sorts of errors over answers that
 * they cannot read, so what is no error of the call counts as one that may pass; tries are few.
 */
export function judgeProviderFailure(error: unknown, nowMs: number): ProviderFailure {
  if (!APICallError.isInstance(error)) {
    const message = `The provider's answer cannot be read: ${textOf(error)}`;
    return { kind: 'retry', retryAfterMs: 0, message };
  }
  const { statusCode, responseHeaders = {}, responseBody = '' } = error;
  const status = statusCode === undefined ? '' : `${statusCode}: `;
  const message = `The provider answers ${status}${textOf(error)}`;
  if (statusCode !== undefined && settingsStatuses.has(statusCode)) {
    return { kind: 'settings', message };
  }
  if (settingsCodes.test(responseBody)) return { kind: 'settings', message };
  // A body that breaks off or is no JSON comes from something between here and the provider.
  const isUnreadable = statusCode !== undefined && statusCode < 300;
  if (!error.isRetryable && !isUnreadable) return { kind: 'final', message };
  return { kind: 'retry', retryAfterMs: readRetryAfterMs(responseHeaders, nowMs), message };
}

/** How long the provider asks to wait: in ms, in seconds, or until a date. */
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
