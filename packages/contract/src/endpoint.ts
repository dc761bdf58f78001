import type { Static, TObject } from 'typebox';
import type { ErrorCode } from './error-codes.ts';

/** How a caller proves itself. `session` is the console's cookie, never valid elsewhere. */
export type EndpointAuth =
  | 'none'
  | 'bearer'
  | 'integration-secret'
  | 'chat-signature'
  | 'signed-url'
  | 'session';

/** What a token may be used for. A bearer endpoint names the scopes of which one suffices. */
export const scopes = ['agent', 'enqueue', 'read', 'decide', 'integrate'] as const;
export type Scope = (typeof scopes)[number];

/** One row of the endpoint table; hub, SDK, console and `openapi.json` are all made from it. */
export interface Endpoint<Req extends TObject = TObject, Res extends TObject = TObject> {
  /** Unique; the `operationId`. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /** Groups the endpoints of one noun in the documentation. */
  readonly tag: string;
  readonly auth: EndpointAuth;
  /** For `bearer`: one of these scopes suffices. Empty: any valid token. */
  readonly scopes: readonly Scope[];
  /** Named by the specification, or an extension of it. */
  readonly origin: 'specification' | 'extension';
  readonly summary: string;
  readonly description: string;
  readonly request: Req;
  /**
   * Where raw bytes travel in place of JSON. The fields of `request` are then the query: always
   * so with `GET`, and with bytes in the request too.
   */
  readonly bytes?: 'request' | 'response';
  readonly response: Res;
  /** Codes of this endpoint's own; those of every endpoint (401, 404, 413, …) are implied. */
  readonly errors: readonly ErrorCode[];
  readonly example: { readonly request: Static<Req>; readonly response: Static<Res> };
}

/** Checks a row's types; does nothing at run time. */
export function defineEndpoint<Req extends TObject, Res extends TObject>(
  endpoint: Endpoint<Req, Res>,
): Endpoint<Req, Res> {
  return endpoint;
}

/** What a client sends. */
export type RequestOf<E> = E extends Endpoint<infer Req, TObject> ? Static<Req> : never;
/** What a client receives on success. */
export type ResponseOf<E> = E extends Endpoint<TObject, infer Res> ? Static<Res> : never;
