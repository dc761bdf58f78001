import type { ErrorBody, ErrorCode, ErrorDetail } from '@signalbox/contract';

/** The hub's codes, and two for when no answer of the hub arrived. */
export type FailureCode = ErrorCode | 'UNREACHABLE' | 'ANSWER_UNREADABLE';

/** A call that did not succeed, whatever the reason. */
export class HubError extends Error {
  readonly code: FailureCode;
  /** Finds the cause in the hub's log; null when the hub was not reached. */
  readonly requestId: string | null;
  readonly details: readonly ErrorDetail[];

  constructor(
    code: FailureCode,
    message: string,
    rest: { requestId?: string | null; details?: readonly ErrorDetail[]; cause?: unknown } = {},
  ) {
    super(message, { cause: rest.cause });
    this.name = 'HubError';
    this.code = code;
    this.requestId = rest.requestId ?? null;
    this.details = rest.details ?? [];
  }
}

/** True for a failure with one of these codes. */
export function hasCode(error: unknown, ...codes: FailureCode[]): error is HubError {
  return error instanceof HubError && codes.includes(error.code);
}

/** Reads a failure body; undefined when it is not one. */
export function errorOfBody(body: unknown): HubError | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  const { error, message, requestId, details } = body as ErrorBody;
  if (typeof error !== 'string' || typeof message !== 'string') return undefined;
  return new HubError(error, message, {
    requestId: requestId ?? null,
    details: Array.isArray(details) ? details : [],
  });
}
