import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal, RequestContext } from '../principal.ts';

type Cookies = RequestContext['cookies'];

/** The part of a request that handlers see. The signal and the cookies are created on first use. */
export class HttpContext implements RequestContext {
  readonly principal: Principal;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  #disconnect: AbortController | null = null;

  constructor(request: FastifyRequest, reply: FastifyReply, principal: Principal) {
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
    if (this.#disconnect === null) {
      const disconnect = new AbortController();
      const { raw } = this.#reply;
      this.#disconnect = disconnect;
      // A completely sent answer emits `close` too; that is no disconnect.
      raw.once('close', () => {
        if (!raw.writableFinished) disconnect.abort();
      });
      if (raw.destroyed) disconnect.abort();
    }
    return this.#disconnect.signal;
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
