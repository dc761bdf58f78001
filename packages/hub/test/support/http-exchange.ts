import assert from 'node:assert/strict';
import type { Endpoint } from '@signalbox/contract';

export interface Exchange {
  method?: string;
  path: string;
  token?: string | null;
  headers?: Record<string, string>;
  /** A value is sent as JSON; text and bytes as they are; absent: no body and no content type. */
  body?: unknown;
}

/** An answer with its text as it came, for what must or must not appear in it. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: Record<string, unknown>;
}

/** One request over real HTTP, with nothing added but what the exchange says. */
export async function exchange(baseUrl: string, request: Exchange): Promise<Answer> {
  const { method = 'POST', path, token = null, body } = request;
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...request.headers,
    },
    ...(body === undefined ? {} : { body: toBytes(body) }),
  });
  const text = await readText(response);
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

/** A stream has no end: of an answer that is one, nothing is read. */
async function readText(response: Response): Promise<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    return response.text();
  }
  await response.body?.cancel();
  return '';
}

/** The request of a row: its fields are the body or, for a stream, the query. */
export function requestOfRow(
  { method, path: ownPath, streams }: Endpoint,
  fields: Record<string, unknown>,
  path = ownPath,
): Pick<Exchange, 'method' | 'path' | 'body'> {
  if (streams) {
    return { method, path: `${path}?${new URLSearchParams(fields as Record<string, string>)}` };
  }
  return { method, path, ...(method === 'GET' ? {} : { body: fields }) };
}

/** Every answer names its request, and a refusal names the same one in its body. */
export function checkRequestId({ headers, body, text }: Answer): void {
  const id = headers.get('x-request-id');
  assert.match(id ?? '', /^req_[0-9a-v]{20}$/);
  if (body.ok === false) assert.equal(body.requestId, id, text);
}

/** Removes the request's id, so that the answers to two requests can be compared. */
export function anonymize({ status, headers, text }: Answer): unknown {
  const kept = [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date');
  const id = headers.get('x-request-id') ?? '';
  return { status, headers: kept, text: text.replaceAll(id, 'req_…') };
}

/** The bytes that a body is sent as. */
export function toBytes(body: unknown): Uint8Array<ArrayBuffer> {
  // A copy in a buffer of its own: fetch takes no shared memory.
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return new Uint8Array(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));
}

function parse(text: string): Record<string, unknown> {
  return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
}
