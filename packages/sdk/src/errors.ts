import { type ErrorCode, type ErrorDetail, redactTokens } from '@signalbox/contract';

/**
 * Codes of the client itself: the answer did not come from a hub (`INVALID_RESPONSE`), or it was a
 * redirect (`REDIRECT_REFUSED`). A hub never sends them.
 */
export type ClientErrorCode = 'INVALID_RESPONSE' | 'REDIRECT_REFUSED';

/** A newer hub may send codes that this client does not know. */
export type ApiErrorCode = ErrorCode | ClientErrorCode | (string & {});

export interface ApiErrorFields {
  code: ApiErrorCode;
  status: number;
  message: string;
  requestId?: string | null;
  details?: readonly ErrorDetail[];
  retryAfterMs?: number | null;
}

/** The hub refused the call. Its texts do not contain tokens. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Stable, in upper snake case. Programs decide by it. */
  readonly code: ApiErrorCode;
  /** The HTTP status, or 0 if a browser hides it (for a redirect). */
  readonly status: number;
  /** Identifies the request in the hub's log; null if the answer had none. */
  readonly requestId: string | null;
  /** The invalid fields; empty for all codes but INVALID_REQUEST. */
  readonly details: readonly ErrorDetail[];
  /** The pause that the hub asks for before the next call, or null. */
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
 * No complete answer arrived: no connection, a broken connection, or a timeout. The hub may have
 * acted or not. `cause` is the error of `fetch`.
 */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}
