import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { request as requestHttp } from './node-http.ts';
import { type PrivateHosts, resolveOutboundHost } from './outbound-hosts.ts';

const { request: requestHttps } = process.getBuiltinModule('node:https');
const TOTAL_MS = 10_000;

interface OutboundRequest {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string | Buffer;
  allowed: PrivateHosts;
  signal?: AbortSignal;
}

/**
 * Sends a request to an address of the outside. The connection goes to the address that was
 * checked, redirects are not followed, and all ends after ten seconds, also the body of the answer.
 *
 * @returns the answer, whose body the caller reads or destroys.
 * @throws OutboundHostError when the host is not allowed; errors of connecting; a time-out.
 */
export async function requestOutbound(
  url: URL,
  { method, headers, body, allowed, signal: stop }: OutboundRequest,
): Promise<IncomingMessage> {
  const timeout = AbortSignal.timeout(TOTAL_MS);
  const signal = stop === undefined ? timeout : AbortSignal.any([stop, timeout]);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const { address, family } = await resolveOutboundHost(host, allowed);
  signal.throwIfAborted();
  const lookup: LookupFunction = (_host, { all }, found) =>
    all ? found(null, [{ address, family }]) : found(null, address, family);
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const answer = Promise.withResolvers<IncomingMessage>();
  const sent = request(url, { method, headers, lookup, signal, agent: false });
  sent.once('error', answer.reject).once('response', answer.resolve);
  sent.end(body);
  return await answer.promise;
}
