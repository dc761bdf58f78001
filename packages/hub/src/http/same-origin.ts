import type { IncomingHttpHeaders } from 'node:http';
import { HubError } from '../base/errors.ts';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses a request that a page of another site made a browser send, also under a name that leads
 * to this machine (DNS rebinding). Programs send neither header.
 *
 * @throws HubError NOT_ALLOWED
 */
export function refuseOtherSites(headers: IncomingHttpHeaders, baseUrl: string): void {
  const isOfBrowser = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  if (!isOfBrowser) return;
  if (isSameOrigin(headers, baseUrl) && isLocalHost(headers, baseUrl)) return;
  throw new HubError('NOT_ALLOWED', 'Pages of other sites may not call this path.');
}

/**
 * Refuses a request that another site made a browser send; without a body, also where a browser
 * does not say where it comes from, since it reads only. Browsers set `Sec-Fetch-Site` and
 * `Origin` themselves and no page can change them; SameSite cookies would not be enough, because
 * they allow sibling subdomains.
 *
 * @param baseUrl the public URL of this hub, in case a proxy rewrites `Host`.
 * @throws HubError NOT_ALLOWED
 */
export function requireSameOrigin(
  request: { method: string; headers: IncomingHttpHeaders },
  baseUrl: string,
): void {
  const { method, headers } = request;
  const site = headers['sec-fetch-site'];
  if (safeMethods.has(method) && (site === undefined || site === 'none')) return;
  if (isSameOrigin(headers, baseUrl)) return;
  throw new HubError(
    'NOT_ALLOWED',
    'Only the console may make console calls: send Sec-Fetch-Site: same-origin, or the Origin of ' +
      'this hub. Programs use the control plane with a token.',
  );
}

/** Uses `Sec-Fetch-Site` if it is sent; browsers without it send `Origin` with each POST. */
function isSameOrigin(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { host: originHost, protocol } = new URL(origin);
  if (origin === new URL(baseUrl).origin) return true;
  // Compares the host only: behind a proxy that ends TLS the hub does not know the scheme.
  return /^https?:$/.test(protocol) && originHost === host?.toLowerCase();
}

const loopbackNames = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * Whether `Host` names this machine. A page on the internet can point its own name at 127.0.0.1
 * (DNS rebinding) and is then same-origin with the hub, but `Host` still has its name.
 */
export function isLocalHost(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const { host } = headers;
  return host !== undefined && (loopbackNames.test(host) || host === new URL(baseUrl).host);
}
