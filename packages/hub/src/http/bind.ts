import type { Readable } from 'node:stream';
import type { Endpoint, EndpointAuth, RequestInput } from '@signalbox/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Static, TObject } from 'typebox';
import { HubError } from '../errors.ts';
import type { Principal, RequestContext } from '../principal.ts';
import { type BodyProof, requireProvedBody } from './body.ts';
import {
  type BytesReceiver,
  type BytesServer,
  routeReceivedBytes,
  routeServedBytes,
} from './bytes.ts';
import { HttpContext } from './context.ts';
import { replyWithError } from './error-reply.ts';
import { createRequestValidator } from './validation.ts';

const IGNORED_FIELDS_HEADER_CHARS_MAX = 1_000;
const allMethods: HTTPMethods[] = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'];

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the request's proof has been looked at. */
    principal: Principal | null;
  }
}

/** How callers prove themselves, and what they may use; `app.ts` hands it in. */
export interface Gatekeeper {
  /**
   * Finds who makes the request. Runs before the body is read.
   * @throws HubError 401
   */
  authenticate: Record<EndpointAuth, (request: FastifyRequest) => Promise<Principal>>;
  /** The rest of a proof that covers the body. */
  proveBody?: Partial<Record<EndpointAuth, BodyProof>>;
  /** The principal as it is in one workspace, or null when it may not use it. */
  enterWorkspace(principal: Principal, workspaceId: string): Promise<Principal | null>;
}

export type Handler<Req extends TObject, Res extends TObject> = (
  input: RequestInput<Req>,
  context: RequestContext,
) => Promise<Omit<Static<Res>, 'ok'>>;

/** An answer of any length, sent as it comes. */
export interface StreamedAnswer {
  contentType: string;
  /** Under which a browser keeps it: letters, digits, dots and dashes. */
  fileName: string;
  /** An error in it breaks the connection off, so that nobody takes a part for the whole. */
  body: Readable;
}

export type StreamHandler<Req extends TObject> = (
  input: RequestInput<Req>,
  context: RequestContext,
) => Promise<StreamedAnswer>;

/** Sends what a handler made of the input. */
type Respond<Req extends TObject> = (
  input: RequestInput<Req>,
  context: RequestContext,
  reply: FastifyReply,
) => Promise<FastifyReply>;

export interface BindOptions<Req extends TObject> {
  /** Another path and another proof: the console's mirror of an endpoint. */
  as?: { path: string; auth: EndpointAuth };
  /** Whether a job token may make this very call; absent: it may not. */
  allowJob?: (principal: Principal, input: RequestInput<Req>) => boolean;
  /** The answer is sent as it is, without `ok`. */
  bare?: boolean;
  /** Content types of JSON that it takes beside application/json. */
  contentTypes?: readonly string[];
  /** Whether unknown fields of this very body are used, and so are not named as ignored. */
  keepsUnknownFields?: (body: unknown) => boolean;
}

/** Binds rows of the endpoint table to handlers, and keeps which rows are bound. */
export class Api {
  readonly #server: FastifyInstance;
  readonly #gatekeeper: Gatekeeper;
  readonly #bound: Endpoint[] = [];
  readonly #methodsByPath = new Map<string, string[]>();
  /** In tests every answer is held against its schema. */
  readonly #checkAnswer: ((endpoint: Endpoint, answer: unknown) => void) | undefined;

  constructor(
    server: FastifyInstance,
    gatekeeper: Gatekeeper,
    checkAnswer?: (endpoint: Endpoint, answer: unknown) => void,
  ) {
    this.#server = server;
    this.#gatekeeper = gatekeeper;
    this.#checkAnswer = checkAnswer;
    server.decorateRequest('principal', null);
  }

  /** The rows with a handler under their own path: what `openapi.json` describes. */
  get bound(): readonly Endpoint[] {
    return this.#bound;
  }

  bind<Req extends TObject, Res extends TObject>(
    endpoint: Endpoint<Req, Res>,
    handler: Handler<Req, Res>,
    options: BindOptions<Req> = {},
  ): void {
    // Handlers differ in their types; the table keeps them only as rows.
    const row = endpoint as unknown as Endpoint;
    this.#route(row, endpoint.request, options, async (input, context, reply) => {
      const answer = await handler(input, context);
      const body = options.bare ? answer : { ok: true, ...answer };
      this.#checkAnswer?.(row, body);
      return reply
        .header('content-type', 'application/json; charset=utf-8')
        .header('cache-control', 'no-store')
        .send(JSON.stringify(body));
    });
  }

  /** Binds a row of JSON requests that are answered with a file. */
  bindStream<Req extends TObject>(
    endpoint: Endpoint<Req, TObject>,
    handler: StreamHandler<Req>,
  ): void {
    const row = endpoint as unknown as Endpoint;
    this.#route(row, endpoint.request, {}, async (input, context, reply) => {
      const { contentType, fileName, body } = await handler(input, context);
      return reply
        .header('content-type', contentType)
        .header('content-disposition', `attachment; filename="${fileName}"`)
        .header('cache-control', 'no-store')
        .send(body);
    });
  }

  /** Binds a row whose request is raw bytes, proved by its URL. */
  bindReceivedBytes<Proof, Res extends TObject>(
    endpoint: Endpoint<TObject, Res>,
    receiver: BytesReceiver<Proof, Res>,
  ): void {
    const row = endpoint as unknown as Endpoint;
    this.#bound.push(row);
    this.#methodsByPath.set(row.path, [row.method]);
    const check = (answer: unknown) => this.#checkAnswer?.(row, answer);
    routeReceivedBytes(this.#server, endpoint, receiver, check);
  }

  /** Binds a row whose answer is raw bytes, proved by its URL, and `HEAD` on its path. */
  bindServedBytes<Proof>(endpoint: Endpoint, bytes: BytesServer<Proof>): void {
    this.#bound.push(endpoint);
    this.#methodsByPath.set(endpoint.path, [endpoint.method, 'HEAD']);
    routeServedBytes(this.#server, endpoint, bytes);
  }

  #route<Req extends TObject>(
    row: Endpoint,
    schema: Req,
    options: BindOptions<Req>,
    respond: Respond<Req>,
  ): void {
    const path = options.as?.path ?? row.path;
    const auth = options.as?.auth ?? row.auth;
    const validator = createRequestValidator(schema);
    const authenticate = this.#gatekeeper.authenticate[auth];
    const proveBody = this.#gatekeeper.proveBody?.[auth] ?? null;
    if (options.as === undefined) this.#bound.push(row);
    this.#methodsByPath.set(path, [...(this.#methodsByPath.get(path) ?? []), row.method]);
    this.#server.route({
      method: row.method,
      url: path,
      config: { contentTypes: options.contentTypes ?? [] },
      onRequest: async (request) => {
        request.proveBody = proveBody;
        request.principal = await authenticate(request);
      },
      handler: async (request, reply) => {
        const { principal } = request;
        if (principal === null) throw new Error('a request was not authenticated');
        requireProvedBody(request);
        const body = request.body ?? {};
        if (!options.keepsUnknownFields?.(body)) nameIgnored(reply, validator.findIgnored(body));
        // Defaults are filled in by the validator: that is what RequestInput says beyond Static.
        const input = validator.validate(body) as RequestInput<Req>;
        const entered = await this.#enter(row, principal, input);
        if (entered.job !== null && !(options.allowJob?.(entered, input) ?? false)) {
          throw new HubError('NOT_ALLOWED', 'A job token may only touch its own job and run.');
        }
        return respond(input, new HttpContext(request, reply, entered), reply);
      },
    });
  }

  /** Binds a row under its own path and, with the session for the token, for the console. */
  bindBoth<Req extends TObject, Res extends TObject>(
    endpoint: Endpoint<Req, Res>,
    consolePath: string,
    handler: Handler<Req, Res>,
    options: Omit<BindOptions<Req>, 'as'> = {},
  ): void {
    this.bind(endpoint, handler, options);
    this.bind(endpoint, handler, { ...options, as: { path: consolePath, auth: 'session' } });
  }

  /** After all rows are bound: other methods on their paths are 405, with `Allow`. */
  finish(): void {
    for (const [path, methods] of this.#methodsByPath) {
      this.#server.route({
        method: allMethods.filter((method) => !methods.includes(method)),
        url: path,
        onRequest: async (request, reply) => {
          reply.header('allow', methods.join(', '));
          const message = `This path takes ${methods.join(' and ')}, not ${request.method}.`;
          return replyWithError(new HubError('METHOD_NOT_ALLOWED', message), request, reply);
        },
        handler: async () => undefined,
      });
    }
  }

  /** Workspace first, then scope: who may not use a workspace learns nothing about the call. */
  async #enter(endpoint: Endpoint, principal: Principal, input: unknown): Promise<Principal> {
    const { workspaceId } = input as { workspaceId?: unknown };
    let entered = principal;
    if (typeof workspaceId === 'string') {
      const inside = await this.#gatekeeper.enterWorkspace(principal, workspaceId);
      if (inside === null) throw new HubError('WORKSPACE_NOT_FOUND');
      entered = inside;
    }
    const { scopes } = endpoint;
    if (scopes.length > 0 && !scopes.some((scope) => entered.scopes.has(scope))) {
      throw new HubError(
        'NOT_ALLOWED',
        `This call needs the scope ${scopes.join(' or ')}, which the token or role does not have.`,
      );
    }
    return entered;
  }
}

function nameIgnored(reply: FastifyReply, ignored: readonly string[]): void {
  if (ignored.length === 0) return;
  const names = ignored.map((name) => encodeURIComponent(name)).join(', ');
  reply.header('x-ignored-fields', names.slice(0, IGNORED_FIELDS_HEADER_CHARS_MAX));
}
