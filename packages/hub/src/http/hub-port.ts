import type { RequestListener, Server } from 'node:http';
import { type ErrorBody, endpoints, type IdSource } from '@signalbox/contract';
import { createServer } from '../base/node-http.ts';
import type { StartStatus } from '../base/start-status.ts';
import { openSockets, type Place, type Sockets } from './listen.ts';
import { UPLOAD_TIMEOUT_MS } from './request-timeout.ts';

/** The limits of a connection. */
const connectionLimits = {
  headersTimeout: 10_000,
  // How often Node checks both timeouts; its default of 30 s would let a slow client stay longer.
  connectionsCheckingInterval: 1_000,
  // The longest limit of all routes; request-timeout.ts applies the shorter ones.
  requestTimeout: UPLOAD_TIMEOUT_MS,
  // Longer than the idle time of common load balancers (60 s), so that they close first.
  keepAliveTimeout: 72_000,
  maxHeaderSize: 16_384,
};

/** Creates an HTTP server with the limits of the hub. */
export function createHttpServer(listener: RequestListener): Server {
  return createServer(connectionLimits, listener);
}

/**
 * The port of a hub, open from the beginning of its start: a migration may take minutes, and a
 * supervisor that gets no answer would end the hub, which would then begin again. Until the hub
 * serves, it answers that it lives, and what it does.
 */
export class HubPort {
  #listener: RequestListener;
  #serving: RequestListener | null = null;
  readonly #http = createHttpServer((request, response) => this.#listener(request, response));
  readonly #sockets: Promise<Sockets>;

  private constructor(place: Place, listener: RequestListener) {
    this.#listener = listener;
    this.#sockets = openSockets(this.#http, place);
  }

  /** @throws the error of listening, such as EADDRINUSE. */
  static async open(place: Place, status: StartStatus, ids: IdSource): Promise<HubPort> {
    const port = new HubPort(place, createStartListener(status, ids));
    await port.#sockets;
    return port;
  }

  /** Where it listens. */
  place(): Promise<Pick<Sockets, 'address' | 'port'>> {
    return this.#sockets;
  }

  /** Gives the HTTP server to its owner, whose listener is called from `serve` on. */
  serverFor(listener: RequestListener): Server {
    this.#serving = listener;
    return this.#http;
  }

  serve(): void {
    if (this.#serving !== null) this.#listener = this.#serving;
  }

  /** Accepts no more connections. Resolves when the others have ended. */
  async close(): Promise<void> {
    await (await this.#sockets).close();
  }

  /** Ends all connections. */
  async abort(): Promise<void> {
    const closed = this.close();
    this.#http.closeAllConnections();
    await closed;
  }
}

function createStartListener(status: StartStatus, ids: IdSource): RequestListener {
  const { live } = endpoints.health;
  return ({ method, url }, response) => {
    const isLive = method === live.method && url === live.path;
    const requestId = ids('request');
    const { sentence: message } = status;
    const refusal: ErrorBody = { ok: false, error: 'UNAVAILABLE', message, requestId };
    response.writeHead(isLive ? 200 : 503, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': requestId,
      ...(isLive ? null : { 'retry-after': '1' }),
      // The next request may find the hub that serves.
      connection: 'close',
    });
    response.end(JSON.stringify(isLive ? { ok: true } : refusal));
  };
}
