import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Endpoint, ErrorCode, RequestInput } from '@signalbox/contract';
import type { FastifyRequest } from 'fastify';
import type { Static, TObject } from 'typebox';
import type { Principal, RequestContext } from '../base/principal.ts';
import type { BodyProof } from './body-parsers.ts';
import type { EventSource } from './event-stream.ts';

export type Handler<Req extends TObject, Res extends TObject> = (
  input: RequestInput<Req>,
  context: RequestContext,
) => Promise<Omit<Static<Res>, 'ok'>>;

/** How a row answers many callers with one read; see `SharedAnswers`. */
export interface SharedRead<Req extends TObject, Res extends TObject> {
  /** The id of the record that the answer is about. */
  recordOf(input: RequestInput<Req>): string;
  /** Reads the answer, which is the same for all callers. */
  read(input: RequestInput<Req>): Promise<Omit<Static<Res>, 'ok'>>;
  /** Whether the answer stays true until the record changes. */
  lasts(answer: Omit<Static<Res>, 'ok'>): boolean;
  /** Answers a caller whose answer is not shared; null for all others. */
  readOwn?(input: RequestInput<Req>, principal: Principal): Promise<Omit<Static<Res>, 'ok'>> | null;
}

/** An answer of any length, sent while it is produced. */
export interface StreamedAnswer {
  contentType: string;
  /** The name under which a browser saves it: letters, digits, dots and dashes. */
  fileName: string;
  /** An error in the stream aborts the connection, so that no client takes a part for the whole. */
  body: Readable;
}

export type StreamHandler<Req extends TObject> = (
  input: RequestInput<Req>,
  context: RequestContext,
) => Promise<StreamedAnswer>;

/**
 * Authorizes a stream of events. The returned function is called if the client is still there: it
 * takes what the stream needs, or refuses it, and the source gives that back when the stream ends.
 */
export type EventHandler<Req extends TObject> = (
  input: RequestInput<Req>,
  context: RequestContext,
) => Promise<() => EventSource>;

/** A message of another protocol whose calls are calls of rows. */
export interface ProtocolMessage {
  principal: Principal;
  requestId: string;
  headers: IncomingHttpHeaders;
  /** The JSON of the body. */
  message: unknown;
  /**
   * Calls a row for the caller of the message, who pays for the call.
   *
   * @returns the answer of the row.
   * @throws HubError
   */
  call(row: Endpoint, body: object): Promise<object>;
}

export interface ProtocolHandler {
  /** Tells a caller without a valid token where to get one: the header `WWW-Authenticate`. */
  challenge(refusal: ErrorCode): string;
  /**
   * Called before the caller is authenticated.
   * @throws HubError
   */
  accept(request: FastifyRequest): void;
  serve(message: ProtocolMessage): Promise<Response>;
}

/** A request to a path whose fields, answers and errors are those of another standard. */
export interface StandardRequest {
  body: unknown;
  /** As it came, without its question mark. */
  query: string;
  address: string;
}

/** Proves who sent a request. Each function throws the refusal. */
export interface SenderProof {
  /** Called before the body is read. */
  checkHead(request: FastifyRequest): void;
  checkBody: BodyProof;
}

/** Answers a request of a stranger with JSON, by default with status 200, or redirects it. */
export type StandardHandler = (
  request: StandardRequest,
) => Promise<{ status?: number; body: object } | { redirectTo: string }>;
