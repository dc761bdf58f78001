import { type AssistantScope, assistantScopes, type Scope } from '@signalbox/contract';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** RFC 6749, section 4.1.2: at most ten minutes. */
export const CODE_MS = MINUTE_MS;
export const ACCESS_MS = 60 * MINUTE_MS;
/** A refresh token ends this long after it was issued, so a login that is used does not end. */
export const REFRESH_MS = 30 * DAY_MS;
/** How long a used refresh token gives the same tokens again, to processes that share it. */
export const FORGIVING_MS = 5 * MINUTE_MS;
/** A used secret is kept this long after its end, to recognize that it is used again. */
export const USED_KEPT_MS = DAY_MS;

/** Registrations of one address in an hour, and of all addresses that no person has allowed yet. */
export const REGISTRATIONS_OF_ADDRESS_MAX = 20;
export const REGISTRATIONS_WINDOW_MS = 60 * MINUTE_MS;
export const REGISTRATIONS_MAX = 5_000;
/** A registered client is forgotten after this time, and later once a person has allowed it. */
export const CLIENT_UNUSED_MS = DAY_MS;
export const CLIENT_USED_MS = 365 * DAY_MS;

/** The scopes of the hub that each scope of an assistant gives. */
const scopeOf: Record<AssistantScope, Scope> = {
  read: 'read',
  enqueue: 'enqueue',
  answer: 'decide',
};

export function hubScopesOf(scopes: readonly AssistantScope[]): Scope[] {
  return scopes.map((scope) => scopeOf[scope]);
}

/** Those of the scopes of the hub that assistants have, by the names that they know. */
export function assistantScopesOf(scopes: Iterable<Scope>): AssistantScope[] {
  const held = new Set(scopes);
  return assistantScopes.filter((scope) => held.has(scopeOf[scope]));
}

const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);

export function isLoopbackUri({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && loopbackHosts.has(hostname);
}

/**
 * Parses an address to which an answer may be sent: HTTPS, or a program on the person's machine
 * (RFC 8252, section 7.3). Null: another. Custom schemes can be taken by any program.
 */
export function parseRedirectUri(text: string): URL | null {
  const url = URL.parse(text);
  if (url === null || text.includes('#') || url.username !== '' || url.password !== '') return null;
  return url.protocol === 'https:' || isLoopbackUri(url) ? url : null;
}

/**
 * Whether a client has named an address: the same text (RFC 9700, section 2.1), but for the port of
 * a loopback address, which a program gets when it starts (RFC 8252, section 7.3).
 */
export function isRedirectUriOf(named: readonly string[], asked: string): boolean {
  if (named.includes(asked)) return parseRedirectUri(asked) !== null;
  const url = parseRedirectUri(asked);
  if (url === null || !isLoopbackUri(url)) return false;
  return named.some((text) => {
    const own = parseRedirectUri(text);
    return own !== null && isLoopbackUri(own) && withoutPort(own) === withoutPort(url);
  });
}

function withoutPort({ hostname, pathname, search }: URL): string {
  return `${hostname}${pathname}${search}`;
}
