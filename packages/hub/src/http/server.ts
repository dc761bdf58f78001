import cookie from '@fastify/cookie';
import { BODY_BYTES_MAX, type IdSource } from '@signalbox/contract';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { HubError } from '../base/errors.ts';
import { addBodyParsers } from './body-parsers.ts';
import { createClientErrorHandler } from './client-error.ts';
import { compressAnswers } from './compress-answers.ts';
import { limitDrainTime } from './drain-limit.ts';
import { replyWithError } from './error-reply.ts';
import { createHttpServer, type HubPort } from './hub-port.ts';
import type { Limiter } from './limiter.ts';
import { closeTogether } from './listen.ts';
import { logRequests } from './request-log.ts';
import { limitRequestTime } from './request-timeout.ts';
import { UnavailableLog } from './unavailable-log.ts';

export interface ServerOptions {
  ids: IdSource;
  logger: NonNullable<FastifyServerOptions['logger']>;
  /** Whether people use HTTPS: sends Strict-Transport-Security. */
  secure: boolean;
  limiter: Limiter;
  /** Addresses and ranges of the proxies whose forwarding headers are believed. */
  trustedProxies: readonly string[];
  /** The port that it serves; absent: it is told later where to listen. */
  port?: HubPort | null;
  /** Set while the hub is about to stop: each answer ends its connection. */
  draining: { isDraining: boolean };
}

/**
 * Replaces Fastify's compilers, which would load Ajv and fast-json-stringify. Routes give Fastify
 * no schemas, because `validation.ts` checks those of the contract.
 */
const noCompilers = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error('routes must not give Fastify a schema; the contract has them');
}

/** Creates the HTTP server: strict JSON in, `{ok: false, …}` for every failure. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { port = null } = options;
  const server: FastifyInstance = Fastify({
    logger: options.logger,
    trustProxy: options.trustedProxies.length > 0 && [...options.trustedProxies],
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request would cost more than most requests log.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_BYTES_MAX,
    genReqId: () => options.ids('request'),
    serverFactory: (listener) => port?.serverFor(listener) ?? createHttpServer(listener),
    // A stopping hub still serves requests on open connections.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    clientErrorHandler: createClientErrorHandler(options.ids, (socket, end) =>
      requestLog?.refuseUnread(socket, end),
    ),
    // Called for a path that cannot be decoded; no hook has run by then.
    frameworkErrors(error, request, reply) {
      requestLog?.watch(request, reply);
      addHeaders(request, reply, options.secure);
      return replyWithError(error, request, reply);
    },
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 500 },
    schemaController: { compilersFactory: noCompilers },
  });
  server.decorate('unavailableLog', new UnavailableLog());
  const requestLog = logRequests(server);
  // Only console calls have cookies, so they are parsed on first use.
  server.register(cookie, { hook: false });
  addBodyParsers(server);
  server.setErrorHandler(replyWithError);
  server.setNotFoundHandler(replyNotFound);
  if (options.trustedProxies.length === 0) warnOfProxy(server);
  // Hooks of every request use callbacks: a promise would cost more than their work.
  server.addHook('onRequest', (request, reply, done) => {
    addHeaders(request, reply, options.secure);
    try {
      if (request.routeOptions.config.isCounted !== true)
        options.limiter.admitStranger(request.ip, 1);
    } catch (error) {
      replyWithError(error, request, reply);
      return;
    }
    if (hasSeveralHosts(request.raw.rawHeaders)) {
      const message = 'Send exactly one Host header (RFC 9112, section 3.2).';
      replyWithError(new HubError('INVALID_REQUEST', message), request, reply);
      return;
    }
    // Rejects unknown paths before the body is read.
    if (request.is404) replyNotFound(request, reply);
    else done();
  });
  limitRequestTime(server);
  compressAnswers(server);
  limitDrainTime(server);
  endConnectionsWhileDraining(server, options.draining);
  if (port !== null) closeTogether(server, () => port.close());
  return server;
}

/** Warns once when requests come through a proxy that is not configured. */
function warnOfProxy(server: FastifyInstance): void {
  let hasWarned = false;
  server.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request;
    if (!hasWarned && (headers['x-forwarded-for'] ?? headers.forwarded) !== undefined) {
      hasWarned = true;
      request.log.warn(
        `A request from ${request.ip} has a forwarding header, but SVC_TRUSTED_PROXIES is not ` +
          'set: everybody behind that proxy counts as one address. Set it to the proxy’s address ' +
          'if it is yours.',
      );
    }
    done();
  });
}

function replyNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const message = 'Unknown path: GET /control-plane/openapi.json lists all paths.';
  return replyWithError(new HubError('NOT_FOUND', message), request, reply);
}

/** Whether Node took the first of several: a proxy before the hub may have taken another. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}

/** Adds the headers of every answer. */
function addHeaders(request: FastifyRequest, reply: FastifyReply, secure: boolean): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('referrer-policy', 'no-referrer');
  if (secure) reply.header('strict-transport-security', 'max-age=31536000');
}

/** While the hub drains and stops, ends each connection after its answer, so that none is idle. */
function endConnectionsWhileDraining(
  server: FastifyInstance,
  draining: ServerOptions['draining'],
): void {
  let closing = false;
  server.addHook('preClose', async () => {
    closing = true;
    draining.isDraining = true;
  });
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining.isDraining) reply.header('connection', 'close');
    done();
  });
  // An answer that was already being sent has left its connection open: close it here.
  server.addHook('onResponse', (_request, _reply, done) => {
    if (closing) setImmediate(() => server.server.closeIdleConnections());
    done();
  });
}
