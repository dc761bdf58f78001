/** One request and its answer. Sending and judging are separate, so that each is tested alone. */
import { conditionOf, type Endpoint, type ErrorDetail, errorCodes } from '@signalbox/contract';
import { readRetryAfterMs } from './backoff.ts';
import { ApiError, UnreachableError } from './errors.ts';
import { TIMER_MS_MAX } from './sleep.ts';

export type Fetch = typeof globalThis.fetch;

export interface HttpRequest {
  /** The hub's address, for messages. */
  baseUrl: string;
  url: string;
  method: Endpoint['method'];
  headers: Record<string, string>;
  body: string | undefined;
  /** Until the whole answer has arrived. */
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

export interface HttpReply {
  status: number;
  headers: Headers;
  redirected: boolean;
  text: string;
}

/**
 * Sends a request and reads its whole answer.
 * @throws {UnreachableError} if no complete answer arrives. The signal's reason if it aborts.
 */
export async function sendRequest(fetch: Fetch, request: HttpRequest): Promise<HttpReply> {
  const { signal, timeoutMs } = request;
  signal?.throwIfAborted();
  // Not AbortSignal.any: a signal that lives as long as its agent would collect an entry a call.
  const ending = new AbortController();
  const onAbort = () => ending.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  let timedOut = false;
  const onTimeout = () => {
    timedOut = true;
    ending.abort();
  };
  const timer = setTimeout(onTimeout, Math.min(timeoutMs, TIMER_MS_MAX));
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      // A redirect would send the token to an address that the caller did not choose.
      redirect: 'manual',
      signal: ending.signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    const { status, headers } = response;
    // Browsers hide the status of redirects that are not followed.
    const redirected = response.type === 'opaqueredirect' || (status >= 300 && status < 400);
    return { status, headers, redirected, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    const what = timedOut ? `within ${timeoutMs} ms` : `(${reasonOf(cause)})`;
    throw new UnreachableError(
      `The hub at ${request.baseUrl} did not answer ${what}; check that it is running and that this is its address.`,
      { cause },
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * Returns the body of a success. It checks for JSON, and for `ok` if the endpoint has it. It does
 * not check the schema, because a newer hub may send more.
 * @throws {ApiError} for every other answer.
 */
export function readReply(
  endpoint: Pick<Endpoint, 'response'>,
  reply: HttpReply,
  baseUrl: string,
  nowMs: number,
): Record<string, unknown> {
  if (reply.redirected) throw redirectRefused(reply, baseUrl);
  const body = parseObject(reply.text);
  const succeeded = reply.status >= 200 && reply.status < 300;
  const hasOk = 'ok' in endpoint.response.properties;
  if (succeeded && body !== null && (body.ok === true || !hasOk)) return body;
  const common = {
    status: reply.status,
    requestId: reply.headers.get('x-request-id'),
    retryAfterMs: readRetryAfterMs(reply.headers, nowMs),
  };
  if (body === null || body.ok !== false || typeof body.error !== 'string') {
    const message =
      `${baseUrl} answered with HTTP ${reply.status}, but not with the JSON of a hub; check the ` +
      'address, and any proxy in front of the hub.';
    throw new ApiError({ ...common, code: 'INVALID_RESPONSE', message });
  }
  const code = body.error;
  const { message, requestId, details } = body;
  throw new ApiError({
    ...common,
    code,
    message: typeof message === 'string' && message !== '' ? message : messageOf(code),
    requestId: typeof requestId === 'string' ? requestId : common.requestId,
    details: Array.isArray(details) ? details.filter(isDetail) : [],
  });
}

function redirectRefused(reply: HttpReply, baseUrl: string): ApiError {
  const target = reply.headers.get('location');
  const message =
    `${baseUrl} redirects${target === null ? '' : ` to ${target}`}. Redirects are not followed; ` +
    'use the address of the hub itself.';
  return new ApiError({ code: 'REDIRECT_REFUSED', status: reply.status, message });
}

/** A hub that follows only the specification sends a code without a message. */
function messageOf(code: string): string {
  return Object.hasOwn(errorCodes, code)
    ? // The line above has checked the key.
      conditionOf(code as keyof typeof errorCodes)
    : `The hub refused the call with ${code}.`;
}

function parseObject(text: string): Record<string, unknown> | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : null;
}

function isDetail(value: unknown): value is ErrorDetail {
  if (typeof value !== 'object' || value === null) return false;
  const { path, message } = value as Partial<ErrorDetail>;
  return typeof path === 'string' && typeof message === 'string';
}

/** The message of `fetch` says little; outside browsers its cause has a code (ECONNREFUSED). */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'network failure';
  const cause = error.cause as { code?: unknown; message?: unknown } | undefined;
  const reason = cause?.code ?? cause?.message;
  return typeof reason === 'string' && reason !== '' ? reason : error.message;
}
