/** One request and its answer: sending is apart from judging, so that both are tested alone. */
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
  /** Until the whole answer is here. */
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
 * @throws {UnreachableError} no whole answer came; the signal's reason when the caller aborts.
 */
export async function sendRequest(fetch: Fetch, request: HttpRequest): Promise<HttpReply> {
  const { signal, timeoutMs } = request;
  signal?.throwIfAborted();
  // Not AbortSignal.any: a signal that lives as long as its agent would gather one entry a call.
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
      // A redirect would carry the token to an address that nobody named.
      redirect: 'manual',
      signal: ending.signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    const { status, headers } = response;
    // Browsers hide the status of a redirect that is not followed.
    const redirected = response.type === 'opaqueredirect' || (status >= 300 && status < 400);
    return { status, headers, redirected, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    const what = timedOut ? `within ${timeoutMs} ms` : `(${reasonOf(cause)})`;
    throw new UnreachableError(
      `The hub at ${request.baseUrl} did not answer ${what}; check that it runs and that this is its address.`,
      { cause },
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/**
 * The body of a success. Checked lightly: JSON, and `ok` where the endpoint has it; the schema is
 * not, so that a newer hub may answer more.
 * @throws {ApiError} every other answer.
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
      `${baseUrl} answered (HTTP ${reply.status}) with something else than the hub's JSON; check ` +
      'that it is the address of a hub and what stands between.';
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
    `${baseUrl} redirects${target === null ? '' : ` to ${target}`}; redirects are not followed, ` +
    'so give the address at which the hub itself answers.';
  return new ApiError({ code: 'REDIRECT_REFUSED', status: reply.status, message });
}

/** A hub that knows only the specification sends a code without a message. */
function messageOf(code: string): string {
  return Object.hasOwn(errorCodes, code)
    ? // The line above has just made sure of the key.
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

/** `fetch failed` says nothing; its cause has a code such as ECONNREFUSED (not in browsers). */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'network failure';
  const cause = error.cause as { code?: unknown; message?: unknown } | undefined;
  const reason = cause?.code ?? cause?.message;
  return typeof reason === 'string' && reason !== '' ? reason : error.message;
}
