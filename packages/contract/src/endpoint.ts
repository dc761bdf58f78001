import type { Static, TObject } from 'typebox';
import type { ErrorCode } from './error-codes.ts';

/** How a caller authenticates. `session` is the console's cookie; no other endpoint accepts it. */
export type EndpointAuth =
  | 'none'
  | 'bearer'
  | 'integration-secret'
  | 'chat-signature'
  | 'signed-url'
  | 'session';

/** Permissions of a token. A bearer endpoint lists the scopes of which one suffices. */
export const scopes = ['agent', 'enqueue', 'read', 'decide', 'integrate'] as const;
export type Scope = (typeof scopes)[number];

/** Fields under which the hub recognizes a repeated call. */
export type RetryKey = 'idempotencyKey' | 'claimKey';

/**
 * The options of a client when the answer to a call was lost.
 * - `safe`: send the call again. It reads, or it sets a state, or the hub recognizes the repetition
 *   by something that the request always carries (an attempt, a sequence number, an event's key).
 * - `withKey`: send the call again if both requests carry the same value in this optional field.
 * - `once`: do not send the call again. It might act twice, so the caller has to decide.
 */
export type Repeat = 'safe' | 'once' | { readonly withKey: RetryKey };

/**
 * The rule for the token of a job at a bearer endpoint, besides having one of its scopes. A job
 * token is given to the tool that the agent runs. What a tool says is a claim: the token reports,
 * asks and reads within its job and run. It never completes the job, proves anything, lets a
 * deadline answer, changes what its run is, or raises a priority. Where a row allows the call, the
 * operation refuses the fields that would.
 * - `none`: the call is refused.
 * - `always`: the call is allowed; it reaches nothing beyond what the token itself names.
 * - `own-job`: `jobId` must be the job of the token.
 * - `own-run`: `runId` must be sent and be the run of the token's job.
 * - `own-run-or-job`: as `own-run`, or `jobId` without `runId` is the token's job.
 * - `own-run-and-job`: `runId` and `jobId`, if sent, must be the run and the job of the token. The
 *   operation fills in the job.
 * - `own-run-by-reference`: the token's job must have a run. The request names a run by
 *   repository and `runRef`; the operation looks it up and refuses every other run.
 * - `by-operation`: the operation decides after it has read the record that the call is about.
 */
export const jobTokenRules = [
  'none',
  'always',
  'own-job',
  'own-run',
  'own-run-or-job',
  'own-run-and-job',
  'own-run-by-reference',
  'by-operation',
] as const;
export type JobTokenRule = (typeof jobTokenRules)[number];

/** One row of the endpoint table. Hub, SDK, console and `openapi.json` are derived from it. */
export interface Endpoint<
  Req extends TObject = TObject,
  Res extends TObject = TObject,
  Console extends boolean = boolean,
> {
  /** Unique; the `operationId`. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** Groups the endpoints of one group in the documentation. */
  readonly tag: string;
  readonly auth: EndpointAuth;
  /** For `bearer`: one of these scopes suffices. Empty: any valid token. */
  readonly scopes: readonly Scope[];
  /** Whether the specification names the endpoint, or it is an extension. */
  readonly origin: 'specification' | 'extension';
  /**
   * Whether the console may call the endpoint. For a row of the control plane, the hub then serves
   * it a second time, at `consolePathOf(row)`, with the session in place of the token.
   */
  readonly console: Console;
  readonly repeat: Repeat;
  readonly jobToken: JobTokenRule;
  readonly summary: string;
  readonly description: string;
  readonly request: Req;
  /**
   * Which side sends raw bytes instead of JSON. The fields of `request` are then the query; they
   * always are for `GET`.
   */
  readonly bytes?: 'request' | 'response';
  /** The answer is a stream of server-sent events until the client leaves, each with `response`. */
  readonly streams?: true;
  readonly response: Res;
  /** Codes that the rest of the row does not imply (`listErrorCodes`). */
  readonly errors: readonly ErrorCode[];
  readonly example: { readonly request: Static<Req>; readonly response: Static<Res> };
}

/** The values that most rows share. A job token is refused unless the row allows it. */
const defaults = {
  method: 'POST',
  auth: 'bearer',
  origin: 'extension',
  jobToken: 'none',
  errors: [],
} as const satisfies Partial<Endpoint>;

/** A row as it is written: it says what differs from the defaults. */
export type EndpointRow<Req extends TObject, Res extends TObject, Console extends boolean> = Omit<
  Endpoint<Req, Res, Console>,
  keyof typeof defaults
> &
  Partial<Pick<Endpoint, keyof typeof defaults>>;

/** Checks a row's types and adds the defaults. */
export function defineEndpoint<
  Req extends TObject,
  Res extends TObject,
  const Console extends boolean,
>(row: EndpointRow<Req, Res, Console>): Endpoint<Req, Res, Console> {
  return { ...defaults, ...row };
}

/** The body that a client sends. */
export type RequestOf<E> = E extends Endpoint<infer Req, TObject> ? Static<Req> : never;
/** The body that a client receives on success. */
export type ResponseOf<E> = E extends Endpoint<TObject, infer Res> ? Static<Res> : never;
/** The answer of an operation: the body on success, which the hub completes with `ok`. */
export type AnswerOf<E> = Omit<ResponseOf<E>, 'ok'>;
