import { type ErrorCode, type ErrorDetail, redactTokens } from '@signalbox/contract';

/**
 * Codes that the client itself gives: the answer was not the hub's (`INVALID_RESPONSE`), or it was
 * a redirect (`REDIRECT_REFUSED`). They never travel on the wire.
 */
export type ClientErrorCode = 'INVALID_RESPONSE' | 'REDIRECT_REFUSED';

/** A newer hub may answer with codes that this client does not know. */
export type ApiErrorCode = ErrorCode | ClientErrorCode | (string & {});

export interface ApiErrorFields {
  code: ApiErrorCode;
  status: number;
  message: string;
  requestId?: string | null;
  details?: readonly ErrorDetail[];
  retryAfterMs?: number | null;
}

/** The hub answered, and the answer is no. Texts are free of tokens. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Stable, upper snake case: what programs decide by. */
  readonly code: ApiErrorCode;
  /** HTTP status; 0 when a browser hides it (a redirect). */
  readonly status: number;
  /** Finds the cause in the hub's log; null when the answer carried none. */
  readonly requestId: string | null;
  /** Which fields were refused; empty for all codes but INVALID_REQUEST. */
  readonly details: readonly ErrorDetail[];
  /** How long the hub asks to wait before the next call; null when it does not say. */
  readonly retryAfterMs: number | null;

  constructor(fields: ApiErrorFields) {
    super(redactTokens(fields.message));
    this.code = fields.code;
    this.status = fields.status;
    this.requestId = fields.requestId ?? null;
    this.details = fields.details ?? [];
    this.retryAfterMs = fields.retryAfterMs ?? null;
  }
}

/**
 * No whole answer came: no connection, a connection cut, or nothing within the time. Whether the
 * hub did what was asked is unknown. `cause` is what `fetch` threw.
 */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}
