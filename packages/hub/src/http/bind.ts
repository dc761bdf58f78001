import type { Endpoint, EndpointAuth, RequestInput } from '@signalbox/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { TObject } from 'typebox';
import { assert, HubError, invalidField } from '../base/errors.ts';
import type { Principal, RequestContext } from '../base/principal.ts';
import { Admission } from './admission.ts';
import { requireProvedBody } from './body-parsers.ts';
import {
  type BytesReceiver,
  type BytesServer,
  routeReceivedBytes,
  routeServedBytes,
} from './byte-routes.ts';
import { type CallCost, costOf } from './call-cost.ts';
import { replyWithError } from './error-reply.ts';
import { sendEvents } from './event-stream.ts';
import { FORM_TYPE } from './form-body.ts';
import type { Gatekeeper } from './gatekeeper.ts';
import type {
  EventHandler,
  Handler,
  ProtocolHandler,
  SenderProof,
  SharedRead,
  StandardHandler,
  StreamHandler,
} from './handlers.ts';
import { admitsJobToken } from './job-token.ts';
import type { Limiter } from './limiter.ts';
import { type CallAccess, HttpContext } from './request-context.ts';
import { addressesOf } from './row-addresses.ts';
import type { SharedAnswers } from './shared-answers.ts';
import { type StoredAnswer, sendStored } from './stored-answer.ts';
import { createRequestValidator, type RequestValidator } from './validation.ts';

const IGNORED_FIELDS_HEADER_CHARS_MAX = 1_000;
const allMethods: HTTPMethods[] = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the row itself counts its requests against limits. */
    isCounted?: boolean;
    /** Whether it takes the tokens of assistants. */
    admitsAssistants?: boolean;
  }
}

/** Calls the handler and sends its answer. */
type Respond<Req extends TObject> = (
  input: RequestInput<Req>,
  context: HttpContext,
  reply: FastifyReply,
) => Promise<FastifyReply>;

/** Calls the handler and writes its answer as JSON. */
type Answer<Req extends TObject> = (
  input: RequestInput<Req>,
  context: RequestContext,
) => Promise<string>;

/** A row that other protocols may call. */
interface CallableRow {
  validator: RequestValidator<TObject>;
  cost: CallCost;
  answer: Answer<TObject>;
}

/** Of a message of another protocol, which takes up to 2 ms. The call in it pays for itself. */
const MESSAGE_COST: CallCost = { units: 6, isLease: false, isLongRead: false };

interface BindOptions {
  /** Sends the answer without adding `ok`. */
  bare?: boolean;
  /** JSON content types that are accepted in addition to application/json. */
  contentTypes?: readonly string[];
  /** Whether unknown fields of this body are used, so that they are not reported as ignored. */
  keepsUnknownFields?: (body: unknown) => boolean;
}

/**
 * Binds rows of the endpoint table to handlers, and remembers which rows are bound. The steps of a
 * request: authenticate, read the body (`body-parsers.ts`), validate, enter, handle, reply.
 */
export class Api {
  readonly #server: FastifyInstance;
  readonly #gatekeeper: Gatekeeper;
  readonly #limiter: Limiter;
  readonly #admission: Admission;
  readonly #sharedAnswers: SharedAnswers;
  readonly #bound: Endpoint[] = [];
  readonly #methodsByPath = new Map<string, string[]>();
  /** By the names of the rows. */
  readonly #callable = new Map<string, CallableRow>();
  /** Set in tests: validates every answer against its schema. */
  readonly #checkAnswer: ((endpoint: Endpoint, answer: unknown) => void) | undefined;

  constructor(
    server: FastifyInstance,
    {
      gatekeeper,
      limiter,
      sharedAnswers,
    }: { gatekeeper: Gatekeeper; limiter: Limiter; sharedAnswers: SharedAnswers },
    checkAnswer?: (endpoint: Endpoint, answer: unknown) => void,
  ) {
    this.#server = server;
    this.#gatekeeper = gatekeeper;
    this.#limiter = limiter;
    this.#admission = new Admission(gatekeeper, limiter);
    this.#sharedAnswers = sharedAnswers;
    this.#checkAnswer = checkAnswer;
    server.decorateRequest('principal', null);
    server.decorateRequest('accessVersion', 0);
    server.decorateRequest('authenticatedAtMs', 0);
    server.decorateRequest('leaveSlot', noSlot);
  }

  /** The rows that have a handler; `openapi.json` describes these. */
  get bound(): readonly Endpoint[] {
    return this.#bound;
  }

  /**
   * Binds a row. If the row says `console: true`, the hub serves it at its console path too, where
   * the session takes the place of the token.
   */
  bind<Req extends TObject, Res extends TObject>(
    endpoint: Endpoint<Req, Res>,
    handler: Handler<Req, Res>,
    options: BindOptions = {},
  ): void {
    // Rows of all types share one list, so their own types are dropped here.
    const row = endpoint as unknown as Endpoint;
    const cost = costOf(row);
    this.#routeJson(row, endpoint.request, options, async (input, context) => {
      const answer = await handler(input, context);
      // So that no turn makes texts of all the pages that were read at the same time.
      if (cost.isLongRead) {
        await this.#limiter.waitForTurn(context.principal, context.address, cost);
      }
      return this.#format(row, answer, options.bare);
    });
  }

  /** Binds a row that many callers may ask at the same time, as `bind` does. */
  bindShared<Req extends TObject, Res extends TObject>(
    endpoint: Endpoint<Req, Res>,
    shared: SharedRead<Req, Res>,
  ): void {
    const row = endpoint as unknown as Endpoint;
    const read = async (input: RequestInput<Req>) => {
      const answer = await shared.read(input);
      return { text: this.#format(row, answer), lasts: shared.lasts(answer) };
    };
    this.#routeJson(row, endpoint.request, {}, async (input, context) => {
      const own = shared.readOwn?.(input, context.principal) ?? null;
      if (own !== null) return this.#format(row, await own);
      const question = { recordId: shared.recordOf(input), key: row.path + JSON.stringify(input) };
      return this.#sharedAnswers.ask(question, () => read(input));
    });
  }

  #routeJson<Req extends TObject>(
    row: Endpoint,
    schema: Req,
    options: BindOptions,
    answer: Answer<Req>,
  ): void {
    this.#callable.set(row.name, {
      validator: createRequestValidator(row.request),
      cost: costOf(row),
      // The validator of the row has checked the input.
      answer: answer as Answer<TObject>,
    });
    this.#route(row, schema, options, async (input, context, reply) =>
      sendJson(reply, await endContext(context, answer(input, context))),
    );
  }

  #format(row: Endpoint, answer: object, isBare = false): string {
    const body = isBare ? answer : { ok: true, ...answer };
    this.#checkAnswer?.(row, body);
    return JSON.stringify(body);
  }

  /** Binds a row whose answer never changes once it is made, at the first request. */
  bindStored(endpoint: Endpoint, make: () => StoredAnswer): void {
    let stored: StoredAnswer | null = null;
    this.#route(endpoint, endpoint.request, {}, async (_input, _context, reply) => {
      stored ??= make();
      return sendStored(reply.request, reply, stored);
    });
  }

  /** Binds a row that takes JSON and answers with a file. */
  bindStream<Req extends TObject>(
    endpoint: Endpoint<Req, TObject>,
    handler: StreamHandler<Req>,
  ): void {
    const row = endpoint as unknown as Endpoint;
    this.#route(row, endpoint.request, {}, async (input, context, reply) => {
      const { contentType, fileName, body } = await endContext(context, handler(input, context));
      return reply
        .header('content-type', contentType)
        .header('content-disposition', `attachment; filename="${fileName}"`)
        .header('cache-control', 'no-store')
        .send(body);
    });
  }

  /** Binds a row that answers with server-sent events. Its request is the query. */
  bindEvents<Req extends TObject>(
    endpoint: Endpoint<Req, TObject>,
    handler: EventHandler<Req>,
  ): void {
    const row = endpoint as unknown as Endpoint;
    this.#route(row, endpoint.request, {}, async (input, context, reply) => {
      // Watches the caller from here on; the end of the stream ends the watch.
      const signal = context.waitSignal;
      try {
        const open = await handler(input, context);
        signal.throwIfAborted();
        const start = open();
        sendEvents(reply, context, (writer) =>
          start({
            ...writer,
            write: (event) => {
              this.#checkAnswer?.(row, event.data);
              writer.write(event);
            },
          }),
        );
      } catch (error) {
        context.unwatch();
        throw error;
      }
      return reply;
    });
  }

  /** Binds a row whose request is raw bytes; its signed URL authenticates it. */
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

  /** Binds a row whose answer is raw bytes, and `HEAD` on its path; its URL is signed. */
  bindServedBytes<Proof>(endpoint: Endpoint, bytes: BytesServer<Proof>): void {
    this.#bound.push(endpoint);
    this.#methodsByPath.set(endpoint.path, [endpoint.method, 'HEAD']);
    routeServedBytes(this.#server, endpoint, bytes);
  }

  /**
   * Binds a path where another protocol calls rows. Each call has the rights, limits and costs of
   * the row, for the caller of the message. A message that is not accepted is refused unread.
   */
  bindProtocol(path: string, { accept, serve, challenge }: ProtocolHandler): void {
    this.#methodsByPath.set(path, ['POST']);
    this.#server.route({
      method: 'POST',
      url: path,
      config: { isCounted: true, admitsAssistants: true, challenge },
      onRequest: async (request, reply) => {
        accept(request);
        await this.#admission.admit('bearer', MESSAGE_COST, request, reply);
      },
      handler: async (request, reply) => {
        const answer = await serve({
          principal: await this.#principalOf(request, 'bearer'),
          requestId: request.id,
          headers: request.headers,
          message: request.body,
          call: (row, body) => this.#call(row, body, request, reply),
        });
        return reply
          .code(answer.status)
          .headers(Object.fromEntries(answer.headers))
          .header('cache-control', 'no-store')
          .send(await answer.text());
      },
    });
  }

  /**
   * Binds a path whose fields, answers and errors are those of another standard.
   *
   * @param proof of the sender; absent: it is a stranger.
   */
  bindStandard(
    method: 'GET' | 'POST',
    path: string,
    handler: StandardHandler,
    proof?: SenderProof,
  ): void {
    this.#methodsByPath.set(path, [method]);
    this.#server.route({
      method,
      url: path,
      config: { isCounted: true, contentTypes: [FORM_TYPE] },
      onRequest: async (request, reply) => {
        request.proveBody = proof?.checkBody ?? null;
        await this.#admission.admit('none', MESSAGE_COST, request, reply);
        proof?.checkHead(request);
      },
      handler: async (request, reply) => {
        requireProvedBody(request);
        const { body, url, ip: address } = request;
        const query = url.slice(url.indexOf('?') + 1 || url.length);
        const answer = await handler({ body, query, address });
        if ('redirectTo' in answer) return reply.redirect(answer.redirectTo);
        return sendJson(reply.code(answer.status ?? 200), JSON.stringify(answer.body));
      },
    });
  }

  /**
   * Calls a row for the caller of a request to another path. Unknown fields are refused, because no
   * header can name them.
   */
  async #call(
    row: Endpoint,
    body: object,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<object> {
    const callable = this.#callable.get(row.name);
    assert(callable !== undefined, `${row.name} has no handler that answers in JSON`);
    const { validator, cost, answer } = callable;
    const principal = await this.#principalOf(request, 'bearer');
    await this.#admission.admitFurther(principal, cost, request, reply);
    const [unknown] = validator.findIgnored(body);
    if (unknown !== undefined) {
      throw invalidField(`/${unknown.replaceAll('.', '/')}`, 'is not a field of this call');
    }
    const input = validator.validate(body);
    const text = await this.#act(row, cost, input, request, reply, (context) =>
      endContext(context, answer(input, context)),
    );
    return JSON.parse(text);
  }

  /** Adds the routes of a row: authenticates, reads, validates, enters and responds. */
  #route<Req extends TObject>(
    row: Endpoint,
    schema: Req,
    options: BindOptions,
    respond: Respond<Req>,
  ): void {
    this.#bound.push(row);
    const validator = createRequestValidator(schema);
    const cost = costOf(row);
    for (const { path, auth } of addressesOf(row)) {
      const proveBody = this.#gatekeeper.proveBody?.[auth] ?? null;
      this.#methodsByPath.set(path, [...(this.#methodsByPath.get(path) ?? []), row.method]);
      this.#server.route({
        method: row.method,
        url: path,
        config: { contentTypes: options.contentTypes ?? [], isCounted: true },
        onRequest: async (request, reply) => {
          request.proveBody = proveBody;
          await this.#admission.admit(auth, cost, request, reply);
        },
        handler: async (request, reply) => {
          requireProvedBody(request);
          await this.#principalOf(request, auth);
          const body = row.streams ? queryOf(request) : (request.body ?? {});
          if (!options.keepsUnknownFields?.(body)) nameIgnored(reply, validator.findIgnored(body));
          // The validator fills in the defaults that RequestInput adds to Static.
          const input = validator.validate(body) as RequestInput<Req>;
          return this.#act(row, cost, input, request, reply, (context) =>
            respond(input, context, reply),
          );
        },
      });
    }
  }

  /** The caller of a request; authenticated again if they may have lost access meanwhile. */
  async #principalOf(request: FastifyRequest, auth: EndpointAuth): Promise<Principal> {
    if (this.#admission.isStale(request)) await this.#admission.authenticate(request, auth);
    assert(request.principal !== null, 'a request is authenticated before its body is read');
    return request.principal;
  }

  /** Enters and acts for the caller of an authenticated request. */
  async #act<T>(
    row: Endpoint,
    cost: CallCost,
    input: object,
    request: FastifyRequest,
    reply: FastifyReply,
    run: (context: HttpContext) => Promise<T>,
  ): Promise<T> {
    const { principal } = request;
    assert(principal !== null, 'a request is authenticated before its body is read');
    const entered = await this.#enter(row, principal, input);
    const access = this.#accessOf(row, entered, request.accessVersion, request.ip);
    const context = new HttpContext(request, reply, entered, access);
    return this.#gatekeeper.actAs(entered, cost, () => run(context));
  }

  #accessOf(row: Endpoint, entered: Principal, since: number, address: string): CallAccess {
    const watched = { principal: entered, scopes: row.scopes };
    return {
      watchAccess: (end) => this.#gatekeeper.watchAccess({ ...watched, end }, since),
      pay: (more) => this.#limiter.admitCaller(entered, address, { ...more, isLongRead: false }),
    };
  }

  /** Answers other methods on bound paths with 405 and `Allow`. Call it after the last `bind`. */
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

  /**
   * Authorizes a call: the workspace first, then the scope, then the rule for job tokens. A caller
   * without access to the workspace learns nothing about the call.
   *
   * @throws HubError WORKSPACE_NOT_FOUND, NOT_ALLOWED
   */
  async #enter(endpoint: Endpoint, principal: Principal, input: object): Promise<Principal> {
    const { workspaceId } = input as { workspaceId?: unknown };
    let entered = principal;
    if (typeof workspaceId === 'string') {
      const inside = await this.#gatekeeper.enterWorkspace(principal, workspaceId);
      if (inside === null) throw new HubError('WORKSPACE_NOT_FOUND');
      this.#limiter.noteEntered(principal, workspaceId);
      entered = inside;
    }
    const { scopes } = endpoint;
    if (scopes.length > 0 && !scopes.some((scope) => entered.scopes.has(scope))) {
      throw new HubError(
        'NOT_ALLOWED',
        `This call needs the scope ${scopes.join(' or ')}, which the token or role does not have.`,
      );
    }
    if (!admitsJobToken(endpoint.jobToken, entered, input)) {
      throw new HubError(
        'NOT_ALLOWED',
        'A job token only works for its own job and run; use a device or service token.',
      );
    }
    return entered;
  }
}

function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(text);
}

/** Of a request that takes none. */
function noSlot(): void {}

/** Awaits a handler. A caller who has lost access meanwhile gets the refusal, not the answer. */
async function endContext<T>(context: Pick<HttpContext, 'end'>, handled: Promise<T>): Promise<T> {
  try {
    return await handled;
  } finally {
    context.end();
  }
}

/** The fields of a stream's request. A browser that reconnects sends its position as a header. */
function queryOf({ query, headers }: FastifyRequest): object {
  const after = headers['last-event-id'];
  return { ...(query as object), ...(after === undefined ? {} : { after }) };
}

function nameIgnored(reply: FastifyReply, ignored: readonly string[]): void {
  if (ignored.length === 0) return;
  const names = ignored.map((name) => encodeURIComponent(name)).join(', ');
  reply.header('x-ignored-fields', names.slice(0, IGNORED_FIELDS_HEADER_CHARS_MAX));
}
