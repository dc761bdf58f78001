import { consolePathOf, type Endpoint, type EndpointAuth } from '@signalbox/contract';

/** A path of a row, and how callers authenticate there. */
export interface Address {
  readonly path: string;
  readonly auth: EndpointAuth;
}

/** The row's own path and, if the console may call it, its mirror there. */
export function addressesOf(row: Endpoint): Address[] {
  const own = { path: row.path, auth: row.auth };
  const consolePath = consolePathOf(row);
  if (!row.console || consolePath === row.path) return [own];
  return [own, { path: consolePath, auth: 'session' }];
}
