import type { FastifyReply, FastifyRequest } from 'fastify';
import { HubError } from '../errors.ts';
import type { Principal, RequestContext } from '../principal.ts';

type Cookies = RequestContext['cookies'];

/** Watches the access of a caller until the returned function is called. */
export type WatchAccess = (end: (refusal: HubError) => void) => () => void;

/** The part of a request that handlers see. The signal and the cookies are created on first use. */
export class HttpContext implements RequestContext {
  readonly principal: Principal;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #watchAccess: WatchAccess;
  #ending: AbortController | null = null;
  #unwatch: () => void = () => undefined;

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    principal: Principal,
    watchAccess: WatchAccess,
  ) {
    this.#watchAccess = watchAccess;
    this.#request = request;
    this.#reply = reply;
    this.principal = principal;
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
      // Only requests that wait need the signal, and they take nothing of the hub meanwhile.
      this.#request.leaveSlot();
      const ending = new AbortController();
      const { raw } = this.#reply;
      this.#ending = ending;
      // A completely sent answer emits `close` too; that is no disconnect.
      raw.once('close', () => {
        if (!raw.writableFinished) ending.abort();
      });
      if (raw.destroyed) ending.abort();
      else this.#unwatch = this.#watchAccess((refusal) => ending.abort(refusal));
    }
    return this.#ending.signal;
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
}

/** Parses the cookies of a request. */
export function cookiesOf(request: FastifyRequest): Cookies {
  const { cookie } = request.headers;
  return cookie === undefined ? {} : request.server.parseCookie(cookie);
}
