import { hash } from 'node:crypto';
import {
  BODY_BYTES_MAX,
  type Endpoint,
  type ErrorCode,
  type IdSource,
  parseToken,
  type RequestInput,
  statusOf,
} from '@signalbox/contract';
import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import type { TObject } from 'typebox';
import { Compile } from 'typebox/compile';
import type { PeerQueue, TokenRecord } from './peer-queue.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the request is authenticated. */
    bearer: TokenRecord | null;
  }
}

/** An expected failure of a call. */
export class Refusal extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Creates a server with the options of the hub's (packages/hub/src/http/server.ts). */
export function createPeerServer(ids: IdSource): FastifyInstance {
  const server = Fastify({
    logger: { level: 'warn', stream: process.stderr },
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger,
    bodyLimit: BODY_BYTES_MAX,
    genReqId: () => ids('request'),
    keepAliveTimeout: 72_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000, maxHeaderSize: 16_384 },
  });
  server.decorateRequest('bearer', null);
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    reply.header('x-content-type-options', 'nosniff');
    reply.header('referrer-policy', 'no-referrer');
    done();
  });
  server.setErrorHandler((error: Error, request, reply) => {
    const code = error instanceof Refusal ? error.code : 'INTERNAL';
    if (code === 'INTERNAL') request.log.error(error);
    const { message } = error;
    reply.code(statusOf(code));
    return reply.send({ ok: false, error: code, message, requestId: request.id });
  });
  return server;
}

/**
 * Binds a row of the endpoint table as the hub does: token, schema, workspace and scope, then the
 * handler.
 */
export function bind<Req extends TObject, Res extends TObject>(
  server: FastifyInstance,
  tokenCheck: TokenCheck,
  { path, request: schema, scopes }: Endpoint<Req, Res>,
  handle: (input: RequestInput<Req>) => Promise<object>,
): void {
  const compiled = Compile(schema);
  const defaults = Object.entries(schema.properties).flatMap(([name, field]) =>
    'default' in field ? [[name, field.default] as const] : [],
  );
  server.post(path, {
    async onRequest(request) {
      const token = await tokenCheck.check(request.headers.authorization);
      if (token === null) throw new Refusal('TOKEN_INVALID', 'Send a valid bearer token.');
      request.bearer = token;
    },
    async handler(request, reply) {
      const body = (request.body ?? {}) as Record<string, unknown>;
      for (const [name, value] of defaults) body[name] ??= value;
      if (!compiled.Check(body)) throw describeInvalid(compiled.Errors(body)[0]);
      requireAccess(request, body.workspaceId, scopes);
      // The defaults are filled in.
      const answer = await handle(body as RequestInput<Req>);
      return reply
        .header('content-type', 'application/json; charset=utf-8')
        .header('cache-control', 'no-store')
        .send(JSON.stringify({ ok: true, ...answer }));
    },
  });
}

function describeInvalid(error: { instancePath: string; message: string } | undefined): Refusal {
  const path = error?.instancePath.slice(1).replaceAll('/', '.') || 'The body';
  return new Refusal('INVALID_REQUEST', `${path} ${error?.message ?? 'is not valid'}.`);
}

/** @throws Refusal WORKSPACE_NOT_FOUND, NOT_ALLOWED */
function requireAccess(
  { bearer }: FastifyRequest,
  workspaceId: unknown,
  scopes: readonly string[],
): void {
  if (bearer?.workspaceId !== workspaceId) {
    throw new Refusal('WORKSPACE_NOT_FOUND', 'There is no such workspace.');
  }
  if (!scopes.some((scope) => bearer?.scopes.includes(scope))) {
    throw new Refusal('NOT_ALLOWED', `This call needs the scope ${scopes.join(' or ')}.`);
  }
}

/** As in the hub: a busy agent costs one lookup a second. */
const AGE_MAX_MS = 1_000;
const headerPattern = /^bearer +(\S+)$/i;

/** Checks bearer tokens as the hub does: check characters, hash, lookup, expiry. */
export class TokenCheck {
  readonly #queue: Pick<PeerQueue, 'findToken'>;
  readonly #known = new Map<string, { readonly token: TokenRecord; readonly readAtMs: number }>();
  readonly #lookups = new Map<string, Promise<TokenRecord | null>>();

  constructor(queue: Pick<PeerQueue, 'findToken'>) {
    this.#queue = queue;
  }

  /** The token of a request's header; null if it is not valid. */
  async check(header: string | undefined): Promise<TokenRecord | null> {
    const text = headerPattern.exec(header?.trim() ?? '')?.[1];
    if (text === undefined || parseToken(text) === null) return null;
    const tokenHash = hashToken(text);
    const known = this.#known.get(tokenHash);
    const isFresh = known !== undefined && Date.now() - known.readAtMs < AGE_MAX_MS;
    const token = isFresh ? known.token : await this.#find(tokenHash);
    return token === null || token.expiresAtMs <= Date.now() ? null : token;
  }

  /** Concurrent lookups of a token share one read. */
  #find(tokenHash: string): Promise<TokenRecord | null> {
    let lookup = this.#lookups.get(tokenHash);
    if (lookup === undefined) {
      const readAtMs = Date.now();
      lookup = this.#queue
        .findToken(tokenHash)
        .then((token) => {
          if (token !== null) this.#known.set(tokenHash, { token, readAtMs });
          return token;
        })
        .finally(() => this.#lookups.delete(tokenHash));
      this.#lookups.set(tokenHash, lookup);
    }
    return lookup;
  }
}

export function hashToken(text: string): string {
  return hash('sha256', text);
}
