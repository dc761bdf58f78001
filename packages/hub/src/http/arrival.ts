import type { FastifyInstance, FastifyRequest } from 'fastify';

/** For a whole request to arrive; a long poll has arrived by then. */
const ARRIVAL_MS = 30_000;
/** For a request that carries bytes: as long as the URL that takes them lives. */
export const ARRIVAL_MS_OF_BYTES = 10 * 60 * 1_000;

const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long the request may take to arrive whole; half a minute when absent. */
    arrivalMs?: number;
  }
}

/**
 * Ends requests that trickle in. Node's own limit is one for all requests, and must let the bytes
 * of a large upload through. Nearly every request arrives whole in the turn of the event loop that
 * brings its head: only those that do not get a timer.
 */
export function limitArrival(server: FastifyInstance): void {
  let begun: FastifyRequest[] = [];
  const limitUnfinished = () => {
    const requests = begun;
    begun = [];
    for (const request of requests) {
      if (!request.raw.complete && !request.raw.destroyed) limitOne(server, request);
    }
  };
  server.addHook('onRequest', (request, _reply, done) => {
    if (begun.push(request) === 1) setImmediate(limitUnfinished);
    done();
  });
}

function limitOne(server: FastifyInstance, { raw, routeOptions }: FastifyRequest): void {
  const timer = setTimeout(() => {
    if (raw.complete) return;
    // As Node says it when its own limit is reached.
    const late = Object.assign(new Error('Request timeout'), { code: REQUEST_TIMEOUT });
    server.server.emit('clientError', late, raw.socket);
  }, routeOptions.config.arrivalMs ?? ARRIVAL_MS);
  timer.unref();
  raw.once('close', () => clearTimeout(timer));
}
