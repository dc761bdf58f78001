import type { ErrorBody, ErrorCode, ErrorDetail } from '@signalbox/contract';

/** The hub's codes, and two for a missing answer of the hub. */
export type FailureCode = ErrorCode | 'UNREACHABLE' | 'ANSWER_UNREADABLE';

/** A failed call. */
export class HubError extends Error {
  readonly code: FailureCode;
  /** Identifies the request in the hub's log; null when the hub was not reached. */
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

/** Whether an error is a HubError with one of these codes. */
export function hasCode(error: unknown, ...codes: FailureCode[]): error is HubError {
  return error instanceof HubError && codes.includes(error.code);
}

/** Reads an error body; undefined if it is not one. */
export function errorOfBody(body: unknown): HubError | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  const { error, message, requestId, details } = body as ErrorBody;
  if (typeof error !== 'string' || typeof message !== 'string') return undefined;
  return new HubError(error, message, {
    requestId: requestId ?? null,
    details: Array.isArray(details) ? details : [],
  });
}
