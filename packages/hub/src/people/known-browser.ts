import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { RequestContext } from '../base/principal.ts';
import { deriveKey } from '../base/sealing.ts';
import type { PeopleDeps } from './deps.ts';
import { type Cookies, cookieName } from './sessions.ts';
import type { PersonRow } from './store.ts';

/*
 * A browser in which a person has signed in keeps a cookie that says so. Its attempts to sign in
 * are counted apart from those of its address, so that somebody else behind the same address who
 * guesses passwords does not delay the person. The cookie gives no access. The hub stores nothing:
 * the cookie is authenticated with the hub's key, and a new password ends it.
 */

const PURPOSE = 'signalbox known browser';
const ID_BYTES = 16;
const COOKIE_MS = 180 * 24 * 60 * 60 * 1_000;

type BrowserDeps = Pick<PeopleDeps, 'secretKey' | 'baseUrl'>;
type Known = Pick<PersonRow, 'person_id' | 'password_hash'>;

/** The id of a browser in which the person has signed in; null for any other. */
export function findKnownBrowser(
  deps: BrowserDeps,
  cookies: Cookies,
  person: Known,
): string | null {
  const [id = '', mac = ''] = (cookies[cookieName(deps.baseUrl, 'browser')] ?? '').split('.');
  const given = Buffer.from(mac, 'base64url');
  const expected = macOf(deps, person, id);
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : null;
}

/** Makes the browser of a request known, after the person has signed in. */
export function setBrowserCookie(
  deps: BrowserDeps,
  context: Pick<RequestContext, 'setCookie'>,
  person: Known,
): void {
  const id = randomBytes(ID_BYTES).toString('base64url');
  const value = `${id}.${macOf(deps, person, id).toString('base64url')}`;
  context.setCookie(cookieName(deps.baseUrl, 'browser'), value, { maxAgeMs: COOKIE_MS });
}

function macOf({ secretKey }: BrowserDeps, person: Known, id: string): Buffer {
  const key = deriveKey(secretKey, person.person_id, PURPOSE);
  return createHmac('sha256', key).update(`${person.password_hash}\0${id}`).digest();
}
