import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal, RequestContext } from '../principal.ts';

type Cookies = RequestContext['cookies'];

/** A request as actions see it. What few of them ask for is made when they do. */
export class HttpContext implements RequestContext {
  readonly principal: Principal;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  #gone: AbortController | null = null;

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
    if (this.#gone === null) {
      const gone = new AbortController();
      const { raw } = this.#reply;
      this.#gone = gone;
      // An answer that has been sent whole closes as well, and then nobody listens.
      raw.once('close', () => {
        if (!raw.writableFinished) gone.abort();
      });
      if (raw.destroyed) gone.abort();
    }
    return this.#gone.signal;
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

/** The cookies of a request; they are not parsed before. */
export function cookiesOf(request: FastifyRequest): Cookies {
  const { cookie } = request.headers;
  return cookie === undefined ? {} : request.server.parseCookie(cookie);
}
