import type { FastifyReply, FastifyRequest } from 'fastify';
import { assert, HubError } from '../errors.ts';
import type { Principal, RequestContext } from '../principal.ts';

type Cookies = RequestContext['cookies'];

/** Watches the access of a caller until the returned function is called. */
export type WatchAccess = (end: (refusal: HubError) => void) => () => void;

/** Watches and charges the caller of a call. */
export interface CallAccess {
  watchAccess: WatchAccess;
  pay: RequestContext['pay'];
}

/** The client of a call, near or on another thread. */
export interface CallClient {
  readonly requestId: string;
  readonly address: string;
  readonly userAgent: string;
  /** Called when the call begins to wait; it then takes nothing of the hub. */
  waits(): void;
  /** Calls a function when the client leaves before its answer; immediately if it has left. */
  onLeft(call: () => void): void;
}

/**
 * The part of a call that handlers see. The signal is created on first use, as few calls need it.
 */
export class CallContext implements RequestContext {
  readonly principal: Principal;
  readonly #client: CallClient;
  readonly #watchAccess: WatchAccess;
  readonly pay: RequestContext['pay'];
  #ending: AbortController | null = null;
  #unwatch: () => void = () => undefined;
  #isWaiting = false;

  constructor(client: CallClient, principal: Principal, { watchAccess, pay }: CallAccess) {
    this.pay = pay;
    this.principal = principal;
    this.#client = client;
    this.#watchAccess = watchAccess;
  }

  get requestId(): string {
    return this.#client.requestId;
  }

  get address(): string {
    return this.#client.address;
  }

  get userAgent(): string {
    return this.#client.userAgent;
  }

  get signal(): AbortSignal {
    if (this.#ending === null) {
      const ending = new AbortController();
      this.#ending = ending;
      this.#client.onLeft(() => ending.abort());
      if (!ending.signal.aborted) {
        this.#unwatch = this.#watchAccess((refusal) => ending.abort(refusal));
      }
    }
    return this.#ending.signal;
  }

  get waitSignal(): AbortSignal {
    if (!this.#isWaiting) this.#client.waits();
    this.#isWaiting = true;
    return this.signal;
  }

  /** Ends the watch of the caller's access. */
  unwatch(): void {
    this.#unwatch();
  }

  /**
   * Call it when the handler has ended.
   * @throws HubError why the caller lost access while the request waited.
   */
  end(): void {
    this.#unwatch();
    const reason: unknown = this.#ending?.signal.reason;
    if (reason instanceof HubError) throw reason;
  }

  get cookies(): Cookies {
    return {};
  }

  setCookie(name: string, _value: string | null, _options: { maxAgeMs: number }): void {
    assert(false, `a caller with a token gets no cookie ${name}`);
  }
}

/** A call over a connection of this thread, with the cookies of the console. */
export class HttpContext extends CallContext {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    principal: Principal,
    access: CallAccess,
  ) {
    super(clientOf(request, reply), principal, access);
    this.#request = request;
    this.#reply = reply;
  }

  override get cookies(): Cookies {
    return cookiesOf(this.#request);
  }

  override setCookie(name: string, value: string | null, { maxAgeMs }: { maxAgeMs: number }): void {
    this.#reply.setCookie(name, value ?? '', {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: name.startsWith('__Host-'),
      maxAge: value === null ? 0 : Math.floor(maxAgeMs / 1_000),
    });
  }
}

function clientOf(request: FastifyRequest, { raw }: FastifyReply): CallClient {
  return {
    requestId: request.id,
    get address() {
      return request.ip;
    },
    userAgent: request.headers['user-agent'] ?? '',
    waits: () => request.leaveSlot(),
    onLeft(call) {
      // A completely sent answer emits `close` too; that is no disconnect.
      raw.once('close', () => {
        if (!raw.writableFinished) call();
      });
      if (raw.destroyed) call();
    },
  };
}

/** Parses the cookies of a request. */
export function cookiesOf(request: Pick<FastifyRequest, 'headers' | 'server'>): Cookies {
  const { cookie } = request.headers;
  return cookie === undefined ? {} : request.server.parseCookie(cookie);
}
