import type { LookupFunction } from 'node:net';
import { request as requestHttp } from '../base/node-http.ts';
import { type PrivateHosts, resolveOutboundHost } from '../base/outbound-hosts.ts';

const { request: requestHttps } = process.getBuiltinModule('node:https');
const TOTAL_MS = 10_000;

export interface PostReply {
  status: number;
  /** Seconds or a date, as the receiver sent it. */
  retryAfter: string | null;
}

/**
 * Posts a body to an address of the outside. The connection goes to the address that was checked,
 * redirects are not followed, and the body of the reply is not read: nothing of it reaches anybody.
 *
 * @throws OutboundHostError when the host is not allowed; errors of connecting; a time-out.
 */
export async function post(
  url: URL,
  body: string | Buffer,
  options: { headers: Record<string, string>; allowed: PrivateHosts; signal: AbortSignal },
): Promise<PostReply> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(TOTAL_MS)]);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const { address, family } = await resolveOutboundHost(host, options.allowed);
  signal.throwIfAborted();
  const lookup: LookupFunction = (_host, { all }, found) =>
    all ? found(null, [{ address, family }]) : found(null, address, family);
  const headers = { ...options.headers, 'content-length': String(Buffer.byteLength(body)) };
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const reply = Promise.withResolvers<PostReply>();
  const sent = request(url, { method: 'POST', headers, lookup, signal, agent: false });
  sent.once('error', reply.reject).once('response', (response) => {
    const retryAfter = response.headers['retry-after'] ?? null;
    reply.resolve({ status: response.statusCode ?? 0, retryAfter });
    response.destroy();
  });
  sent.end(body);
  return await reply.promise;
}
