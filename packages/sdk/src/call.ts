/** One call of an endpoint: builds the request, sends it, and repeats it where that is safe. */
import { BODY_BYTES_MAX, type Endpoint, INTEGRATION_SECRET_HEADER } from '@signalbox/contract';
import { retryDelayMs } from './backoff.ts';
import { ApiError } from './errors.ts';
import { type Fetch, type HttpRequest, readReply, sendRequest } from './exchange.ts';
import type { Sleep } from './sleep.ts';

/** Added to the `waitMs` of a long poll, for the network. */
export const LONG_POLL_MARGIN_MS = 10_000;

export interface CallOptions {
  /** Aborts the call and its waits. The call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** For each attempt. If absent, the client's, or `waitMs` + 10 s for a long poll. */
  timeoutMs?: number | undefined;
}

/** A failed attempt, reported before the wait for the next one. */
export interface Retry {
  /** The name of the endpoint, as in `jobsClaimNext`. */
  endpoint: string;
  /** The attempt that failed; 1 for the first. */
  attempt: number;
  delayMs: number;
  error: Error;
}

/** The settings that all calls of one client share. */
export interface CallContext {
  /** Without a trailing slash. */
  baseUrl: string;
  token: string | undefined;
  integrationSecret: string | undefined;
  userAgent: string | undefined;
  timeoutMs: number;
  attemptsMax: number;
  pathOf: (endpoint: Endpoint) => string;
  onRetry: ((retry: Retry) => void) | undefined;
  fetch: Fetch;
  sleep: Sleep;
  nowMs: () => number;
  random: () => number;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Calls an endpoint until it answers or no retry is left.
 * @throws {ApiError} if the hub refuses. {UnreachableError} if no answer arrives. The signal's
 * reason if the caller aborts.
 */
export async function callEndpoint(
  context: CallContext,
  endpoint: Endpoint,
  body: Fields,
  options: CallOptions = {},
): Promise<Record<string, unknown>> {
  // Built once: every attempt must send the same key, and the same body under it.
  const request = buildRequest(context, endpoint, withRetryKey(endpoint, body), options);
  for (let attempt = 1; ; attempt++) {
    try {
      const reply = await sendRequest(context.fetch, request);
      return readReply(endpoint, reply, context.baseUrl, context.nowMs());
    } catch (error) {
      const { attemptsMax, random } = context;
      const repeatable = endpoint.repeat !== 'once';
      const delayMs = retryDelayMs({ error, attempt, attemptsMax, repeatable, random });
      if (delayMs === null || !(error instanceof Error)) throw error;
      context.onRetry?.({ endpoint: endpoint.name, attempt, delayMs, error });
      await context.sleep(delayMs, options.signal);
    }
  }
}

/** Adds the key under which a repetition is recognized, where the row asks for one. */
function withRetryKey({ repeat }: Endpoint, body: Fields): Fields {
  if (typeof repeat === 'string' || body[repeat.withKey] !== undefined) return body;
  return { ...body, [repeat.withKey]: createRetryKey() };
}

/** A new key: 128 random bits in hex. (`randomUUID` is missing in browsers on plain HTTP.) */
function createRetryKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export function buildRequest(
  context: CallContext,
  endpoint: Endpoint,
  fields: Fields,
  options: CallOptions,
): HttpRequest {
  const { baseUrl } = context;
  const { method } = endpoint;
  const hasBody = method !== 'GET';
  const body = hasBody ? JSON.stringify(fields) : undefined;
  if (body !== undefined) refuseLargeBody(body);
  return {
    baseUrl,
    url: baseUrl + context.pathOf(endpoint) + (hasBody ? '' : queryOf(fields)),
    method,
    headers: headersOf(context, endpoint, hasBody),
    body,
    timeoutMs: options.timeoutMs ?? longPollMs(endpoint, fields) ?? context.timeoutMs,
    signal: options.signal,
  };
}

/** Returns how long a long poll may take, or null if the call does not wait at the hub. */
function longPollMs(endpoint: Endpoint, fields: Fields): number | null {
  const { waitMs: schema } = endpoint.request.properties;
  // If the field has a default, the hub waits even if the caller does not send it.
  const defaultMs = schema !== undefined && 'default' in schema ? schema.default : undefined;
  const waitMs = fields.waitMs ?? defaultMs;
  return typeof waitMs === 'number' && waitMs > 0 ? waitMs + LONG_POLL_MARGIN_MS : null;
}

function headersOf(
  context: CallContext,
  endpoint: Endpoint,
  hasBody: boolean,
): Record<string, string> {
  const { auth } = endpoint;
  const { token, integrationSecret, userAgent } = context;
  if (auth === 'signed-url' || auth === 'chat-signature') {
    const message = `${endpoint.name} cannot be called as JSON; fetch the signed URL itself.`;
    throw new TypeError(message);
  }
  const headers: Record<string, string> = { accept: 'application/json' };
  // Compressing saves nothing on the way to a hub of the same machine. Browsers decide themselves.
  if (isOnThisMachine(context.baseUrl)) headers['accept-encoding'] = 'identity';
  if (hasBody) headers['content-type'] = 'application/json';
  if (userAgent !== undefined) headers['user-agent'] = userAgent;
  if (auth === 'bearer' && token !== undefined) headers.authorization = `Bearer ${token}`;
  if (auth === 'integration-secret' && integrationSecret !== undefined) {
    headers[INTEGRATION_SECRET_HEADER] = integrationSecret;
  }
  return headers;
}

function isOnThisMachine(baseUrl: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(baseUrl).hostname);
}

/** Rejects large bodies before sending: the hub may close the connection before its 413 is read. */
function refuseLargeBody(body: string): void {
  const sizeBytes = new TextEncoder().encode(body).length;
  if (sizeBytes <= BODY_BYTES_MAX) return;
  throw new ApiError({
    code: 'BODY_TOO_LARGE',
    status: 413,
    message: `The body has ${sizeBytes} bytes; the limit is ${BODY_BYTES_MAX}. Send it in parts.`,
  });
}

function queryOf(fields: Fields): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return query.size === 0 ? '' : `?${query}`;
}
