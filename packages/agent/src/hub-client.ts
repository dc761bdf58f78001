import type { endpoints, RequestOf, ResponseOf } from '@signalbox/contract';
import { ApiError, UnreachableError } from '@signalbox/sdk';

export interface CallOptions {
  signal?: AbortSignal;
  /** For the whole call. */
  timeoutMs?: number;
}

export type Call<E> = (body: RequestOf<E>, options?: CallOptions) => Promise<ResponseOf<E>>;

/** The part of the SDK's client that an agent uses; a client made by the SDK fits it. */
export interface HubClient {
  agents: { heartbeat: Call<typeof endpoints.agents.heartbeat> };
  jobs: {
    claimNext: Call<typeof endpoints.jobs.claimNext>;
    heartbeat: Call<typeof endpoints.jobs.heartbeat>;
    complete: Call<typeof endpoints.jobs.complete>;
  };
  jobEvents: { append: Call<typeof endpoints.jobEvents.append> };
}

export type CompleteBody = RequestOf<typeof endpoints.jobs.complete>;

/** What a failed call means for the caller. */
export type Failure =
  /** No answer, or one that asks to come back: the same call may succeed later. */
  | { kind: 'retry'; retryAfterMs: number; isPathUnknown: boolean; message: string }
  /** The token is dead: no call of this agent can succeed until a person logs in again. */
  | { kind: 'unauthorized'; code: string; message: string }
  /** The hub has answered, and the answer is no. */
  | { kind: 'refused'; code: string; message: string };

const STATUS_UNAUTHORIZED = 401;
/** A hub without this extension, or a proxy before a hub that is being moved. */
const unknownPathStatuses = new Set([404, 405]);
const passingStatuses = new Set([...unknownPathStatuses, 408, 429]);
/** Codes of the client: what answered was not a hub, so nothing has been decided. */
const foreignAnswerCodes = new Set<string>(['INVALID_RESPONSE', 'REDIRECT_REFUSED']);

/** Sorts what a call threw; anything that is not about the hub is a defect and thrown again. */
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

function isAbort(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}
