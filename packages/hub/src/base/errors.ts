import { conditionOf, type ErrorCode, type ErrorDetail } from '@signalbox/contract';

/**
 * An expected refusal: a public code and message, and a private cause that never leaves the hub.
 * Only `http/` maps it to HTTP. Every other thrown error is a fault of the hub (500).
 */
export class HubError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  readonly retryAfterMs: number | undefined;

  /**
   * @param message one plain sentence that says what to do; by default the code's condition.
   * @param options.details the invalid fields of the request, with `INVALID_REQUEST`.
   * @param options.retryAfterMs with `RATE_LIMITED` and `UNAVAILABLE`.
   */
  constructor(
    code: ErrorCode,
    message: string = conditionOf(code),
    options: { cause?: unknown; details?: ErrorDetail[]; retryAfterMs?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'HubError';
    this.code = code;
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/**
 * A refusal that names one field of the request.
 *
 * @param path a JSON pointer; empty for the body itself.
 * @param message the rest of the sentence after the field's name, without a full stop.
 */
export function invalidField(path: string, message: string): HubError {
  const field = path.slice(1).replaceAll('/', '.') || 'The body';
  return new HubError('INVALID_REQUEST', `${field} ${message}.`, { details: [{ path, message }] });
}

/** Checks a condition that only a fault of the hub can make false. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}
