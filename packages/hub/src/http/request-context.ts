import type { FastifyReply, FastifyRequest } from 'fastify';
import { HubError } from '../base/errors.ts';
import type { Principal, RequestContext } from '../base/principal.ts';

type Cookies = RequestContext['cookies'];

/** Watches the access of a caller until the returned function is called. */
type WatchAccess = (end: (refusal: HubError) => void) => () => void;

/** Watches and charges the caller of a call. */
export interface CallAccess {
  watchAccess: WatchAccess;
  pay: RequestContext['pay'];
}

/**
 * The part of a request that handlers see. The signal is created on first use, as few calls need
 * it.
 */
export class HttpContext implements RequestContext {
  readonly principal: Principal;
  readonly pay: RequestContext['pay'];
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #watchAccess: WatchAccess;
  #ending: AbortController | null = null;
  #unwatch: () => void = () => undefined;
  #isWaiting = false;

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    principal: Principal,
    { watchAccess, pay }: CallAccess,
  ) {
    this.#request = request;
    this.#reply = reply;
    this.principal = principal;
    this.#watchAccess = watchAccess;
    this.pay = pay;
  }

  get requestId(): string {
    return this.#request.id;
  }

  get address(): string {
    return this.#request.ip;
  }

  get userAgent(): string {
    return this.#request.headers['user-agent'] ?? '';
  }

  get signal(): AbortSignal {
    if (this.#ending === null) {
      const ending = new AbortController();
      this.#ending = ending;
      this.#onLeft(() => ending.abort());
      if (!ending.signal.aborted) {
        this.#unwatch = this.#watchAccess((refusal) => ending.abort(refusal));
      }
    }
    return this.#ending.signal;
  }

  get waitSignal(): AbortSignal {
    // A call that waits takes nothing of the hub.
    if (!this.#isWaiting) this.#request.leaveSlot();
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
    return cookiesOf(this.#request);
  }

  setCookie(name: string, value: string | null, { maxAgeMs }: { maxAgeMs: number }): void {
    this.#reply.setCookie(name, value ?? '', {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: name.startsWith('__Host-'),
      maxAge: value === null ? 0 : Math.floor(maxAgeMs / 1_000),
    });
  }

  /** Calls a function when the client leaves before its answer; immediately if it has left. */
  #onLeft(call: () => void): void {
    const { raw } = this.#reply;
    // A completely sent answer emits `close` too; that is no disconnect.
    raw.once('close', () => {
      if (!raw.writableFinished) call();
    });
    if (raw.destroyed) call();
  }
}

/** Parses the cookies of a request. */
export function cookiesOf(request: Pick<FastifyRequest, 'headers' | 'server'>): Cookies {
  const { cookie } = request.headers;
  return cookie === undefined ? {} : request.server.parseCookie(cookie);
}
