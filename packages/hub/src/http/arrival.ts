import type { FastifyInstance } from 'fastify';

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
 * of a large upload through.
 */
export function limitArrival(server: FastifyInstance): void {
  server.addHook('onRequest', async (request) => {
    const { raw } = request;
    if (raw.complete) return;
    const timer = setTimeout(() => {
      if (raw.complete) return;
      // As Node says it when its own limit is reached.
      const late = Object.assign(new Error('Request timeout'), { code: REQUEST_TIMEOUT });
      server.server.emit('clientError', late, raw.socket);
    }, request.routeOptions.config.arrivalMs ?? ARRIVAL_MS);
    timer.unref();
    raw.once('close', () => clearTimeout(timer));
  });
}
