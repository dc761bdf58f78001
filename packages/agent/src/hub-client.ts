import type { endpoints, RequestOf } from '@signalbox/contract';
import { ApiError, type Client, UnreachableError } from '@signalbox/sdk';

/** The part of the SDK's client that an agent uses. */
export type HubClient = Pick<
  Client,
  'agents' | 'jobs' | 'uploads' | 'jobEvents' | 'reviewComments' | 'uncertainties'
>;

export type CompleteBody = RequestOf<typeof endpoints.jobs.complete>;

/** How to react to a failed call. */
export type Failure =
  /** No answer, or a request to try later: the same call may succeed later. */
  | { kind: 'retry'; retryAfterMs: number; isPathUnknown: boolean; message: string }
  /** The token was rejected: no call can succeed until a person logs in again. */
  | { kind: 'unauthorized'; code: string; message: string }
  /** The hub rejected the call. */
  | { kind: 'refused'; code: string; message: string };

const STATUS_UNAUTHORIZED = 401;
/** A hub without this extension, or a proxy in front of a hub that is being moved. */
const unknownPathStatuses = new Set([404, 405]);
const passingStatuses = new Set([...unknownPathStatuses, 408, 429]);
/** Client error codes for an answer that did not come from a hub, so nothing was decided. */
const foreignAnswerCodes = new Set<string>(['INVALID_RESPONSE', 'REDIRECT_REFUSED']);

/** Classifies an error of a call. Rethrows errors that are not about the hub, as defects. */
export function judgeFailure(error: unknown): Failure {
  if (error instanceof ApiError) {
    const { code, status, message } = error;
    if (status >= 500 || passingStatuses.has(status) || foreignAnswerCodes.has(code)) {
      const isPathUnknown = unknownPathStatuses.has(status);
      return { kind: 'retry', retryAfterMs: error.retryAfterMs ?? 0, isPathUnknown, message };
    }
    if (status === STATUS_UNAUTHORIZED) return { kind: 'unauthorized', code, message };
    return { kind: 'refused', code, message };
  }
  if (error instanceof UnreachableError || isAbort(error)) {
    return { kind: 'retry', retryAfterMs: 0, isPathUnknown: false, message: error.message };
  }
  throw error;
}

/** Whether a refusal is about the content of a result, and not the lease: the job is still held. */
export function isAboutContent(code: string): boolean {
  return ['INVALID_REQUEST', 'INVALID_JSON', 'BODY_TOO_LARGE'].includes(code);
}

function isAbort(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}
