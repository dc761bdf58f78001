import type { Socket } from 'node:net';
import type { ErrorCode } from '@signalbox/contract';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the answer; null unless it is a refusal. */
    refusalCode: ErrorCode | null;
  }
}

/** How a request has ended. */
interface End {
  reqId: string;
  /** Null if the client left before the answer began. */
  status: number | null;
  error: ErrorCode | null;
}

const loggedLevels = new Set(['info', 'debug', 'trace']);

/**
 * Writes a line for each request when it ends: for a stream, when its client leaves. The line names
 * the pattern of the path, because paths and queries have ids and signatures in them.
 */
export class RequestLog {
  readonly #log: FastifyBaseLogger;
  /** The latest request of each connection. */
  readonly #latest = new WeakMap<Socket, FastifyReply>();
  /** How requests have ended that could not be read to their end. */
  readonly #unread = new WeakMap<FastifyReply, End>();

  constructor(log: FastifyBaseLogger) {
    this.#log = log;
  }

  /** Writes the line of a request when it ends. */
  watch(request: FastifyRequest, reply: FastifyReply): void {
    const beganAtMs = performance.now();
    const { raw } = reply;
    this.#latest.set(request.raw.socket, reply);
    raw.once('close', () => {
      const { refusalCode: error, routeOptions } = request;
      const status = raw.headersSent || error !== null ? raw.statusCode : null;
      this.#write({
        ...(this.#unread.get(reply) ?? { reqId: request.id, status, error }),
        method: request.method,
        route: routeOptions.url ?? null,
        durationMs: Math.round(performance.now() - beganAtMs),
        // Requests of raw bytes are authenticated by their URL.
        tokenId: request.principal?.tokenId ?? null,
      });
    });
  }

  /** Notes the refusal of a request that could not be read to its end, if it has begun. */
  refuseUnread(socket: Socket, end: End): void {
    const reply = this.#latest.get(socket);
    if (reply === undefined || reply.raw.headersSent) {
      this.#write({ ...end, method: null, route: null, durationMs: null, tokenId: null });
    } else {
      this.#unread.set(reply, end);
    }
  }

  #write(line: object): void {
    this.#log.info(line, 'A request has ended.');
  }
}

/** @returns null if the level of the log is above `info`; then requests are not looked at. */
export function logRequests(server: FastifyInstance): RequestLog | null {
  server.decorateRequest('refusalCode', null);
  if (!loggedLevels.has(server.log.level)) return null;
  const requestLog = new RequestLog(server.log);
  // Added before all other hooks, because these may refuse.
  server.addHook('onRequest', (request, reply, done) => {
    requestLog.watch(request, reply);
    done();
  });
  return requestLog;
}
