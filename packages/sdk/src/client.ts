import { type Endpoint, endpoints, type RequestOf, type ResponseOf } from '@signalbox/contract';
import { type CallContext, type CallOptions, callEndpoint, type Retry } from './call.ts';
import type { Fetch } from './exchange.ts';
import { type Sleep, sleepOnTimer } from './sleep.ts';

const TIMEOUT_MS_DEFAULT = 30_000;
const ATTEMPTS_MAX_DEFAULT = 4;

export interface ClientOptions {
  /** Where the hub answers, as in `https://signalbox.acme.dev`; a path prefix is kept. */
  baseUrl: string;
  /** The bearer token. Sent only where an endpoint wants one, never told in an error. */
  token?: string | undefined;
  /** For `integrations.ingest`: the hub's `SVC_INTEGRATION_EVENT_SECRET`. */
  integrationSecret?: string | undefined;
  /** Browsers may send their own instead. */
  userAgent?: string | undefined;
  /** For one attempt of a call that is no long poll; default 30,000. */
  timeoutMs?: number | undefined;
  /** Of one call, the first included; default 4. 1 never retries. */
  maxAttempts?: number | undefined;
  onRetry?: ((retry: Retry) => void) | undefined;
  /** Where an endpoint is found; default: its own path. The console passes `consolePathOf`. */
  pathOf?: ((endpoint: Endpoint) => string) | undefined;
  /** For tests: the network, the waits, the clock and the jitter. */
  fetch?: Fetch | undefined;
  sleep?: Sleep | undefined;
  nowMs?: (() => number) | undefined;
  random?: (() => number) | undefined;
}

/** Endpoints by noun and verb. */
export type EndpointTable = Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;

/** A call; its body may be left out when nothing in it is required. */
export type EndpointCall<E> =
  Record<never, never> extends RequestOf<E>
    ? (body?: RequestOf<E>, options?: CallOptions) => Promise<ResponseOf<E>>
    : (body: RequestOf<E>, options?: CallOptions) => Promise<ResponseOf<E>>;

export type ClientOf<T> = {
  readonly [Noun in keyof T]: { readonly [Verb in keyof T[Noun]]: EndpointCall<T[Noun][Verb]> };
};

/** The machine-to-machine interface: `client.jobs.enqueue(body, {signal})`. */
export type Client = ClientOf<typeof endpoints>;

/**
 * A client of one hub. It holds no connection and no state, so it needs no closing.
 *
 * A call rejects with `ApiError` (the hub refuses), `UnreachableError` (no answer) or the reason of
 * its signal. Network failures, 429 and 502–504 are retried with full-jitter backoff behind what
 * Retry-After asks for (up to 60 s) – where that is safe: reads, calls that are idempotent by
 * nature, and calls with a key. Where an endpoint takes `idempotencyKey` or `claimKey` and the
 * caller sends none, the client sends a random one. Calls without either are sent once.
 * @throws {TypeError} an option cannot be used; the message says which and why.
 */
export function createClient(options: ClientOptions): Client {
  return createClientOf(endpoints, options);
}

/** The same over another table, such as the console's endpoints. */
export function createClientOf<const T extends EndpointTable>(
  table: T,
  options: ClientOptions,
): ClientOf<T> {
  const context = contextOf(options);
  const nouns = Object.entries(table).map(([noun, verbs]) => {
    const calls = Object.entries(verbs).map(([verb, endpoint]) => [
      verb,
      async (body: Record<string, unknown> = {}, callOptions?: CallOptions) =>
        callEndpoint(context, endpoint, body, callOptions),
    ]);
    return [noun, Object.freeze(Object.fromEntries(calls))];
  });
  // Built from the very table that T is the type of; no type can follow Object.entries.
  return Object.freeze(Object.fromEntries(nouns)) as ClientOf<T>;
}

function contextOf(options: ClientOptions): CallContext {
  const { token, integrationSecret, userAgent, onRetry, maxAttempts } = options;
  refuseBadHeader('token', token);
  refuseBadHeader('integrationSecret', integrationSecret);
  if (maxAttempts !== undefined && !(Number.isSafeInteger(maxAttempts) && maxAttempts >= 1)) {
    throw new TypeError('maxAttempts must be an integer of at least 1.');
  }
  return {
    baseUrl: normalizeBaseUrl(options.baseUrl),
    token,
    integrationSecret,
    userAgent,
    onRetry,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS_DEFAULT,
    attemptsMax: maxAttempts ?? ATTEMPTS_MAX_DEFAULT,
    pathOf: options.pathOf ?? ((endpoint) => endpoint.path),
    // Browsers refuse a fetch that is called as a method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    sleep: options.sleep ?? sleepOnTimer,
    nowMs: options.nowMs ?? Date.now,
    random: options.random ?? Math.random,
  };
}

/** A bad value must be refused here: `fetch` would repeat the secret in its message. */
function refuseBadHeader(name: string, value: string | undefined): void {
  if (value !== undefined && !/^[\x21-\x7e]+$/.test(value)) {
    throw new TypeError(`${name} must be visible ASCII without spaces; check how it was read.`);
  }
}

/** Origin and path prefix, without slashes at the end. */
function normalizeBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError(
      'baseUrl must be an http:// or https:// address, such as http://127.0.0.1:4400.',
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must not hold credentials, a query or a fragment.');
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}
