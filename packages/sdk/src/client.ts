import { type Endpoint, endpoints, type RequestOf, type ResponseOf } from '@signalbox/contract';
import { type CallContext, type CallOptions, callEndpoint, type Retry } from './call.ts';
import { type StreamedEvent, streamEvents } from './event-stream.ts';
import type { Fetch } from './exchange.ts';
import { type Sleep, sleepOnTimer } from './sleep.ts';

const TIMEOUT_MS_DEFAULT = 30_000;
const ATTEMPTS_MAX_DEFAULT = 4;

export interface ClientOptions {
  /** The address of the hub, such as `https://signalbox.acme.dev`. A path prefix is kept. */
  baseUrl: string;
  /** The bearer token. It is sent only to endpoints that need it, and never part of an error. */
  token?: string | undefined;
  /** The hub's `SVC_INTEGRATION_EVENT_SECRET`, for `integrations.ingest`. */
  integrationSecret?: string | undefined;
  /** Browsers may replace it by their own. */
  userAgent?: string | undefined;
  /** Aborts every call that brings no signal of its own. */
  signal?: AbortSignal | undefined;
  /** For one attempt of a call that is not a long poll; default 30,000. */
  timeoutMs?: number | undefined;
  /** Attempts of one call, the first included; default 4. 1 never retries. */
  maxAttempts?: number | undefined;
  onRetry?: ((retry: Retry) => void) | undefined;
  /** Returns the path of an endpoint; default: its own path. For the console, `consolePathOf`. */
  pathOf?: ((endpoint: Endpoint) => string) | undefined;
  /** For tests: the network, the waits, the clock and the jitter. */
  fetch?: Fetch | undefined;
  sleep?: Sleep | undefined;
  nowMs?: (() => number) | undefined;
  random?: (() => number) | undefined;
}

/** Rows of endpoints by group and verb. */
export type EndpointTable = Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;

/** The body of a call. An optional field may be undefined: it is not sent. */
type BodyOf<E> = OptionalFields<RequestOf<E>>;
type OptionalFields<Fields> = {
  [Name in keyof Fields]: Record<never, never> extends Pick<Fields, Name>
    ? Fields[Name] | undefined
    : Fields[Name];
};

/**
 * A call of an endpoint. The body is optional if it has no required field. A row that streams gives
 * events, for `for await`; it reconnects by itself and ends by the signal or a refusal.
 */
export type EndpointCall<E> = E extends { streams: true }
  ? (
      body: BodyOf<E>,
      options?: Pick<CallOptions, 'signal'>,
    ) => AsyncIterable<StreamedEvent<ResponseOf<E>>>
  : JsonCall<E>;

type JsonCall<E> =
  Record<never, never> extends RequestOf<E>
    ? (body?: BodyOf<E>, options?: CallOptions) => Promise<ResponseOf<E>>
    : (body: BodyOf<E>, options?: CallOptions) => Promise<ResponseOf<E>>;

export type ClientOf<T> = {
  readonly [Group in keyof T]: { readonly [Verb in keyof T[Group]]: EndpointCall<T[Group][Verb]> };
};

/** A client of the machine-to-machine interface: `client.jobs.enqueue(body, {signal})`. */
export type Client = ClientOf<typeof endpoints>;

/**
 * Creates a client of one hub. It has no connection and no state, so it need not be closed.
 *
 * A call rejects with `ApiError` (the hub refuses), `UnreachableError` (no answer) or the reason of
 * its signal. Network failures and 502–504 are retried where the endpoint's `repeat` allows it, and
 * 429 always, with full-jitter backoff after the pause of Retry-After (up to 60 s). If `repeat`
 * names a key (`idempotencyKey` or `claimKey`) and the caller sends none, the client sends a random
 * one.
 * @throws {TypeError} if an option is invalid; the message says which and why.
 */
export function createClient(options: ClientOptions): Client {
  return createClientOf(endpoints, options);
}

/** Creates a client of another table, such as the console's endpoints. */
export function createClientOf<const T extends EndpointTable>(
  table: T,
  options: ClientOptions,
): ClientOf<T> {
  const context = contextOf(options);
  const groups = Object.entries(table).map(([group, verbs]) => {
    const calls = Object.entries(verbs).map(([verb, endpoint]) => [
      verb,
      endpoint.streams
        ? (body: Record<string, unknown> = {}, callOptions?: CallOptions) =>
            streamEvents(context, endpoint, body, callOptions?.signal ?? options.signal)
        : async (body: Record<string, unknown> = {}, callOptions?: CallOptions) =>
            callEndpoint(context, endpoint, body, { signal: options.signal, ...callOptions }),
    ]);
    return [group, Object.freeze(Object.fromEntries(calls))];
  });
  // Built from the table of type T. Object.entries loses its types.
  return Object.freeze(Object.fromEntries(groups)) as ClientOf<T>;
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
    // Browsers reject a fetch that is called as a method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    sleep: options.sleep ?? sleepOnTimer,
    nowMs: options.nowMs ?? Date.now,
    random: options.random ?? Math.random,
  };
}

/** Rejects bad values here, because the error of `fetch` would contain the secret. */
function refuseBadHeader(name: string, value: string | undefined): void {
  if (value !== undefined && !/^[\x21-\x7e]+$/.test(value)) {
    throw new TypeError(
      `${name} must be visible ASCII without spaces; check where it was read from.`,
    );
  }
}

/** Returns origin and path prefix, without trailing slashes. */
function normalizeBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError(
      'baseUrl must be an http:// or https:// address, such as http://127.0.0.1:4400.',
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must not have credentials, a query or a fragment.');
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}
