import { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** How long a request may take to arrive. A long poll has arrived before it begins to wait. */
const REQUEST_TIMEOUT_MS = 30_000;
/** The same for the bytes of an upload: as long as its signed URL is valid. */
export const UPLOAD_TIMEOUT_MS = 10 * 60 * 1_000;

/** Node's own code for this case. */
const REQUEST_TIMEOUT_CODE = 'ERR_HTTP_REQUEST_TIMEOUT';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long the whole request may take to arrive; absent: 30 s. */
    requestTimeoutMs?: number;
  }
}

/**
 * Ends requests that arrive too slowly. Node has a single limit for all requests, which must allow
 * large uploads. Nearly every request arrives completely in the event loop turn that brings its
 * headers; only the others get a timer.
 */
export function limitRequestTime(server: FastifyInstance): void {
  let started: FastifyRequest[] = [];
  const limitIncomplete = () => {
    const requests = started;
    started = [];
    for (const request of requests) {
      if (!request.raw.complete && !request.raw.destroyed) limitOne(server, request);
    }
  };
  server.addHook('onRequest', (request, _reply, done) => {
    if (started.push(request) === 1) setImmediate(limitIncomplete);
    done();
  });
}

function limitOne(server: FastifyInstance, { raw, routeOptions }: FastifyRequest): void {
  const timer = setTimeout(() => {
    // A request that was injected without a connection cannot be cut.
    if (raw.complete || !(raw.socket instanceof Socket)) return;
    // The same event as when Node's own limit is reached.
    const timeout = Object.assign(new Error('Request timeout'), { code: REQUEST_TIMEOUT_CODE });
    server.server.emit('clientError', timeout, raw.socket);
  }, routeOptions.config.requestTimeoutMs ?? REQUEST_TIMEOUT_MS);
  timer.unref();
  raw.once('close', () => clearTimeout(timer));
}
