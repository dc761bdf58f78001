import { hash, randomBytes } from 'node:crypto';

const SESSION_BYTES = 32;

/**
 * The name of the session's cookie. Browsers keep `__Host-` cookies to this very host and to TLS,
 * and refuse them over plain HTTP, where a hub on a laptop is reached.
 */
export function sessionCookieName(baseUrl: string): string {
  return new URL(baseUrl).protocol === 'https:' ? '__Host-sbx_session' : 'sbx_session';
}

/** The cookie's value: 256 random bits, of which the hub keeps the hash. */
export function drawSessionSecret(): string {
  return randomBytes(SESSION_BYTES).toString('base64url');
}

export function hashSessionSecret(secret: string): string {
  return hash('sha256', secret);
}
