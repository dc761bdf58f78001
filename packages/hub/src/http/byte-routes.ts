import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Endpoint } from '@signalbox/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject } from 'typebox';
import { HubError } from '../base/errors.ts';
import { allowsRange, type ByteRange, parseRange } from './byte-range.ts';
import { UPLOAD_TIMEOUT_MS } from './request-timeout.ts';

/**
 * How long the rest of a refused body is read and discarded, so that the client can finish sending
 * and read the answer.
 */
const DRAIN_MS = 10_000;

/** Keeps a browser that opens the bytes from running scripts, loading anything or framing them. */
const CONTENT_SECURITY_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'";

/** The body of an upload while it arrives. Reading pauses when the reader does. */
interface ArrivingBytes {
  body: AsyncIterable<Uint8Array>;
  /** As the client announces it; null: unknown until the end. */
  lengthBytes: number | null;
}

/** Bytes of a download. */
interface ServedBytes {
  sizeBytes: number;
  contentType: string;
  contentDisposition: string;
  /** A strong tag: equal tags mean equal bytes. */
  etag: string;
  /** @param range null: all bytes. Called at most once, and not for `HEAD`. */
  open(range: ByteRange | null): Promise<Readable>;
}

type Query = Readonly<Record<string, unknown>>;

/** Handles a row whose request is raw bytes. `prove` runs before any byte is read. */
export interface BytesReceiver<Proof, Res extends TObject> {
  /** @throws HubError 401 */
  prove: (query: Query) => Proof;
  receive: (proof: Proof, bytes: ArrivingBytes) => Promise<Omit<Static<Res>, 'ok'>>;
}

/** Handles a row whose answer is raw bytes. */
export interface BytesServer<Proof> {
  /** @throws HubError 401 */
  prove: (query: Query) => Proof;
  serve: (proof: Proof) => Promise<ServedBytes>;
}

/** Adds a route that streams the request's body to `receive` and answers in JSON. */
export function routeReceivedBytes<Proof, Res extends TObject>(
  server: FastifyInstance,
  endpoint: Endpoint<TObject, Res>,
  { prove, receive }: BytesReceiver<Proof, Res>,
  checkAnswer: (answer: unknown) => void,
): void {
  const proofs = new WeakMap<FastifyRequest, Proof>();
  // In a scope of its own, where bodies of any content type are left unparsed.
  server.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    scope.route({
      method: endpoint.method,
      url: endpoint.path,
      config: { requestTimeoutMs: UPLOAD_TIMEOUT_MS },
      onRequest: async (request) => {
        // Fastify would refuse a malformed one; the type that counts was announced earlier.
        delete request.raw.headers['content-type'];
        proofs.set(request, prove(queryOf(request)));
      },
      handler: async (request, reply) => {
        try {
          const answer = await receive(proofs.get(request) as Proof, arrivingOf(request));
          const body = { ok: true, ...answer };
          checkAnswer(body);
          return await sendJson(reply, body);
        } catch (error) {
          drain(request);
          throw error;
        }
      },
    });
  });
}

/** Adds a route that answers with all bytes or a range (RFC 9110, section 14), and its `HEAD`. */
export function routeServedBytes<Proof>(
  server: FastifyInstance,
  endpoint: Endpoint,
  { prove, serve }: BytesServer<Proof>,
): void {
  server.route({
    method: ['GET', 'HEAD'],
    url: endpoint.path,
    handler: async (request, reply) => {
      const bytes = await serve(prove(queryOf(request)));
      reply.headers({
        'content-disposition': bytes.contentDisposition,
        'content-security-policy': CONTENT_SECURITY_POLICY,
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'private, no-store',
        'accept-ranges': 'bytes',
        etag: bytes.etag,
      });
      const isHead = request.method === 'HEAD';
      const range = isHead ? null : chooseRange(request.headers, reply, bytes);
      const body = isHead ? null : await bytes.open(range);
      const lengthBytes = range === null ? bytes.sizeBytes : range.last - range.first + 1;
      if (range !== null) {
        reply.code(206);
        reply.header('content-range', `bytes ${range.first}-${range.last}/${bytes.sizeBytes}`);
      }
      reply.header('content-type', bytes.contentType).header('content-length', lengthBytes);
      return reply.send(body);
    },
  });
}

/** @throws HubError RANGE_NOT_SATISFIABLE */
function chooseRange(
  headers: IncomingHttpHeaders,
  reply: FastifyReply,
  { sizeBytes, etag }: ServedBytes,
): ByteRange | null {
  const ifRange = headers['if-range'];
  if (!allowsRange(typeof ifRange === 'string' ? ifRange : undefined, etag)) return null;
  const range = parseRange(headers.range, sizeBytes);
  if (range !== 'unsatisfiable') return range;
  reply.header('content-range', `bytes */${sizeBytes}`);
  throw new HubError('RANGE_NOT_SATISFIABLE');
}

function arrivingOf(request: FastifyRequest): ArrivingBytes {
  const length = request.headers['content-length'];
  // When the reader stops early, the request stays open so that it can be answered.
  return {
    body: request.raw.iterator({ destroyOnReturn: false }),
    lengthBytes: length === undefined ? null : Number(length),
  };
}

/** Discards the rest of a refused body; closes the connection if that takes too long. */
function drain({ raw }: FastifyRequest): void {
  if (raw.complete || raw.destroyed) return;
  raw.resume();
  // An open connection keeps the process alive. Without one, the request may never close, because
  // it has been answered: the timer must not delay the end of a hub that stops.
  const timer = setTimeout(() => raw.destroy(), DRAIN_MS).unref();
  raw.once('close', () => clearTimeout(timer));
}

/** Fastify parses the query into an object of strings and lists of strings. */
function queryOf(request: FastifyRequest): Query {
  return request.query as Query;
}

function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}
