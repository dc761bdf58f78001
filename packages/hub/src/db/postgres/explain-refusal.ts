import { HubError } from '../../base/errors.ts';
import { StartError } from '../data-directory.ts';
import { codeOf, isLockTimeout } from './postgres-errors.ts';

/** The parts of an address that a message may show: no password. */
interface Named {
  /** Host and database, as in `db.internal:5432/signalbox`. */
  address: string;
  user: string;
  database: string;
}

/** Remedies by SQLSTATE. */
const advice: Record<string, (named: Named) => string> = {
  '28P01': () => 'correct user and password in SVC_DATABASE_URL',
  '28000': () => 'correct user and password in SVC_DATABASE_URL, or let them in by pg_hba.conf',
  '3D000': ({ user, database }) =>
    `create it with CREATE DATABASE ${database} OWNER ${user}, or correct SVC_DATABASE_URL`,
  '3F000': ({ user, database }) =>
    `let the search_path of ${user} name a schema: ALTER ROLE ${user} IN DATABASE ${database} ` +
    'RESET search_path',
  '42501': ({ user, database }) =>
    `let ${user} own it: ALTER DATABASE ${database} OWNER TO ${user}; and its tables, if another ` +
    `user created them: REASSIGN OWNED BY … TO ${user}`,
  '53300': () =>
    'raise max_connections or the limit of the user, or lower SVC_DATABASE_SESSIONS of the hubs',
  '25006': () => 'let SVC_DATABASE_URL lead to the primary, which can be written',
  '57P03': () => 'wait until the server has started, then try again',
};

/** Codes of OpenSSL for a certificate that is not trusted. */
const untrusted = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

const TRUST =
  'name the file of its certificate authority: add ?sslmode=verify-full&sslrootcert=FILE to ' +
  'SVC_DATABASE_URL';
const NO_PASSWORD = 'SVC_DATABASE_URL has no password, and the server asks for one';

/**
 * Turns an error of the database at the start into one sentence that says what to do. An error that
 * does not come from the database, or has no known cause, is returned as it is.
 */
export function explainRefusal(error: unknown, url: string): unknown {
  if (error instanceof StartError) return error;
  const cause = causeOf(error);
  // It says what to do.
  if (isLockTimeout(cause)) return error;
  const code = codeOf(cause) ?? '';
  const named = nameParts(url);
  const reason = cause instanceof Error ? cause.message : String(cause);
  const say = (what: string, remedy: string) =>
    new StartError(`The database at ${named.address} cannot be used (${what}): ${remedy}.`, {
      cause: error,
    });
  if (/password must be a(?: non-empty)? string/.test(reason)) {
    return say(NO_PASSWORD, 'add it, as in postgres://user:password@host:5432/database');
  }
  const known = advice[code];
  if (known !== undefined) return say(reason, known(named));
  if (untrusted.has(code)) return say(reason, TRUST);
  if (/connection timeout|terminated unexpectedly/i.test(reason)) {
    return say('no answer', 'check that host and port are reachable, or correct SVC_DATABASE_URL');
  }
  return error instanceof HubError ? say(reason, 'start it, or correct SVC_DATABASE_URL') : error;
}

/** The error of the database or the connection behind a refusal. */
export function causeOf(error: unknown): unknown {
  const cause = error instanceof HubError ? (error.cause ?? error) : error;
  // When a name has several addresses, each has its own error.
  return cause instanceof AggregateError ? cause.errors[0] : cause;
}

/** Host and database of a connection's URL, without user and password. */
export function addressOf(url: string): string {
  return nameParts(url).address;
}

function nameParts(text: string): Named {
  // libpq's form for a socket, as in postgres://user@/name?host=/run/postgresql, has no host.
  const url = URL.parse(text) ?? new URL(text.replace('@/', '@localhost/'));
  const host = URL.canParse(text) ? url.host : '';
  const user = decodeURIComponent(url.username) || 'this user';
  const database = decodeURIComponent(url.pathname.slice(1)) || user;
  const place = host || url.searchParams.get('host') || 'localhost';
  return { address: `${place}/${database}`, user, database };
}
