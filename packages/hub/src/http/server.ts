import cookie from '@fastify/cookie';
import { BODY_BYTES_MAX, type IdSource } from '@signalbox/contract';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { HubError } from '../errors.ts';
import { ARRIVAL_MS_OF_BYTES, limitArrival } from './arrival.ts';
import { addBodyParsers } from './body.ts';
import { createClientErrorHandler } from './client-error.ts';
import { replyWithError } from './error-reply.ts';

const HEADERS_TIMEOUT_MS = 10_000;
/** How often both are looked at; by Node's own 30 s a slow client would stay much longer. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000;
/** Longer than the idle time of common load balancers (60 s), so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const HEADER_BYTES_MAX = 16_384;
const CONNECTIONS_MAX = 50_000;

export interface ServerOptions {
  ids: IdSource;
  logger: NonNullable<FastifyServerOptions['logger']>;
  /** Cookies only travel over TLS, and the browser is told to stay with it. */
  secure: boolean;
}

/**
 * Fastify's own would load Ajv and fast-json-stringify; routes give Fastify no schemas, because the
 * contract's are checked in validation.ts.
 */
const noCompilers = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error('a route has a schema, which only the contract has here');
}

/** A Fastify that speaks the contract: strict JSON in, `{ok: false, …}` on every failure. */
export function createServer(options: ServerOptions): FastifyInstance {
  const server = Fastify({
    logger: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger of its own for each request costs more than most of them log.
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_BYTES_MAX,
    genReqId: () => options.ids('request'),
    // The longest of all requests; the others have a limit of their own.
    requestTimeout: ARRIVAL_MS_OF_BYTES,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // While the hub stops, requests on open connections are still served.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    clientErrorHandler: createClientErrorHandler(options.ids),
    // A path that cannot be decoded is refused before any hook runs.
    frameworkErrors(error, request, reply) {
      addHeaders(request, reply, options.secure);
      return replyWithError(error, request, reply);
    },
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 500 },
    schemaController: { compilersFactory: noCompilers },
  });
  server.server.maxConnections = CONNECTIONS_MAX;
  // Only console calls have cookies: they are parsed where they are asked for.
  server.register(cookie, { hook: false });
  addBodyParsers(server);
  server.setErrorHandler(replyWithError);
  server.setNotFoundHandler(replyNotFound);
  // Hooks of every request call back: a promise each would cost more than what they do.
  server.addHook('onRequest', (request, reply, done) => {
    addHeaders(request, reply, options.secure);
    // Before the body is read: what is in it does not matter where nobody is.
    if (request.is404) replyNotFound(request, reply);
    else done();
  });
  limitArrival(server);
  endConnectionsOnClose(server);
  return server;
}

function replyNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const message = 'There is no such path: GET /control-plane/openapi.json lists all.';
  return replyWithError(new HubError('NOT_FOUND', message), request, reply);
}

/** What every answer carries. */
function addHeaders(request: FastifyRequest, reply: FastifyReply, secure: boolean): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  reply.header('referrer-policy', 'no-referrer');
  if (secure) reply.header('strict-transport-security', 'max-age=31536000');
}

/** While the server closes, each answer is the last on its connection: none stays open idle. */
function endConnectionsOnClose(server: FastifyInstance): void {
  let closing = false;
  server.addHook('preClose', async () => {
    closing = true;
  });
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    done();
  });
  // An answer that was on its way already leaves its connection open, and nobody else closes it.
  server.addHook('onResponse', (_request, _reply, done) => {
    if (closing) setImmediate(() => server.server.closeIdleConnections());
    done();
  });
}
