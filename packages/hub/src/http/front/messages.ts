import type { ErrorCode, ErrorDetail } from '@signalbox/contract';
import { HubError } from '../../errors.ts';
import type { Principal } from '../../principal.ts';
import type { RateLimits } from '../limiter.ts';

/* What the core thread and a front thread send each other. */

/** The settings of a front thread from its start. */
export interface FrontStart {
  readonly host: string;
  readonly port: number;
  /** The Unix socket on which the core serves what front threads relay. */
  readonly socketPath: string;
  readonly limits: RateLimits;
  readonly trustedProxies: readonly string[];
  readonly logLevel: string;
  readonly secure: boolean;
  /** The names of the rows that the core performs for front threads. */
  readonly callable: readonly string[];
}

/** The headers that prove who calls; undefined is sent as null. */
export interface Proof {
  readonly authorization: string | null;
  readonly host: string | null;
}

/** From a front thread. Ids are those of its calls. */
export type ToCore =
  | { readonly kind: 'calls'; readonly calls: readonly CallMessage[] }
  | { readonly kind: 'authenticate'; readonly id: number; readonly proof: Proof }
  | { readonly kind: 'left'; readonly id: number }
  | { readonly kind: 'listening' }
  | { readonly kind: 'closed' };

export interface CallMessage extends Proof {
  readonly id: number;
  readonly name: string;
  readonly requestId: string;
  readonly address: string;
  readonly userAgent: string;
  /** JSON crosses at less cost than an object. */
  readonly input: string;
}

/** To a front thread. */
export type ToFront =
  | { readonly kind: 'answers'; readonly answers: readonly AnswerMessage[] }
  | { readonly kind: 'principal'; readonly id: number; readonly principal: Principal }
  | { readonly kind: 'waits' | 'watched'; readonly id: number }
  | { readonly kind: 'hubs'; readonly hubs: number }
  | { readonly kind: 'drain' }
  | { readonly kind: 'close' };

export type AnswerMessage =
  | { readonly id: number; readonly text: string }
  | { readonly id: number; readonly refusal: Refusal }
  | { readonly id: number; readonly failure: Error };

/** A `HubError`, whose class does not cross. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetail[] | undefined;
  readonly retryAfterMs: number | undefined;
  /** For the log. */
  readonly cause: Error | undefined;
}

/** The answer to a call that has failed. */
export function failedAnswer(id: number, error: unknown): AnswerMessage {
  if (error instanceof HubError) {
    const { code, message, details, retryAfterMs } = error;
    const cause = error.cause === undefined ? undefined : copyError(error.cause);
    return { id, refusal: { code, message, details, retryAfterMs, cause } };
  }
  return { id, failure: copyError(error) };
}

/** The error of a call that has failed. */
export function errorOf(answer: Exclude<AnswerMessage, { text: string }>): Error {
  if ('failure' in answer) return answer.failure;
  const { code, message, details, retryAfterMs, cause } = answer.refusal;
  return new HubError(code, message, {
    ...(details === undefined ? {} : { details }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Copies an error for the log: its message and stack, because other fields may not cross. */
function copyError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const copy = new Error(error.message);
  if (error.stack !== undefined) copy.stack = error.stack;
  return copy;
}

/** Collects messages and posts them once in a turn of the event loop: a post costs 10 µs. */
export class Outbox<Message> {
  readonly #post: (messages: Message[]) => void;
  #messages: Message[] = [];

  constructor(post: (messages: Message[]) => void) {
    this.#post = post;
  }

  add(message: Message): void {
    if (this.#messages.push(message) === 1) setImmediate(this.#flush);
  }

  readonly #flush = () => {
    const messages = this.#messages;
    this.#messages = [];
    this.#post(messages);
  };
}
