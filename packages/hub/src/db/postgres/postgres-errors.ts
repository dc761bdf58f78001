import { HubError } from '../../base/errors.ts';
import { toBusy } from '../database-busy.ts';

/*
 * The meaning of PostgreSQL's SQLSTATE codes for an action
 * (postgresql.org/docs/current/errcodes-appendix.html).
 */

const READ_ONLY = '25006';
const UNIQUE_VIOLATION = '23505';
const DEADLOCK = '40P01';
const SERIALIZATION_FAILURE = '40001';
const FEATURE_NOT_SUPPORTED = '0A000';

const SERVER_FULL = '53300'; // too_many_connections
const QUERY_CANCELED = '57014';
const LOCK_NOT_AVAILABLE = '55P03';

/** The server or the connection failed: nothing was kept, and a retry may succeed. */
const unavailable = new Set([
  READ_ONLY,
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '53100', // disk_full
  '53200', // out_of_memory
  SERVER_FULL,
  LOCK_NOT_AVAILABLE, // lock_timeout
  QUERY_CANCELED, // statement_timeout
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '58000', // system_error
  '58030', // io_error
  'XX000', // internal_error; also the answer of a pooler that has lost its server
]);

/** Codes of Node and of the driver for a connection that cannot be made or has broken. */
const brokenConnection = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);
/** Messages of the driver's errors that have no code. */
const brokenMessages = new RegExp(
  [
    'connection (terminated|ended|error)',
    'terminated unexpectedly',
    'timeout (exceeded|expired)',
    'read timeout',
    'not queryable',
    'client was closed',
    'pool after calling end',
    'stream was destroyed',
    'socket disconnected',
  ].join('|'),
  'i',
);

/** Whether the server or the connection failed. Class 08 is for connection exceptions. */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== null && (unavailable.has(code) || /^08/.test(code))) return true;
  return isConnectionBroken(error);
}

/** Whether the connection itself is lost, so that a read may be retried on another. */
export function isConnectionBroken(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== null && (/^08/.test(code) || /^57P0[1235]/.test(code))) return true;
  if (code !== null && brokenConnection.has(code)) return true;
  return error instanceof Error && code === null && brokenMessages.test(error.message);
}

/** Whether the primary has become a standby, so that its connections must not be used again. */
export function isDemoted(error: unknown): boolean {
  return codeOf(error) === READ_ONLY;
}

/** Whether a statement or its wait for a lock took too long; the session can still be used. */
export function isTimeLimit(error: unknown): boolean {
  return codeOf(error) === QUERY_CANCELED || isLockTimeout(error);
}

/** Whether another transaction has held a lock for too long. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

/**
 * Whether the schema has changed since the session prepared the statement, so that its rows would
 * have other columns ("cached plan must not change result type"). Each further use in the session
 * fails; in a new session the statement succeeds.
 */
export function isStalePlan(error: unknown): boolean {
  // The code has many meanings, and the message may be translated.
  const { routine } = (error ?? {}) as { routine?: unknown };
  return codeOf(error) === FEATURE_NOT_SUPPORTED && routine === 'RevalidateCachedQuery';
}

/** Whether another action interfered; when restarted, this one sees what the other did. */
export function isConflict(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION || isContention(error);
}

/** Whether another action interfered and nothing else is wrong: a later try can succeed. */
export function isContention(error: unknown): boolean {
  const code = codeOf(error);
  return code === DEADLOCK || code === SERIALIZATION_FAILURE || isStalePlan(error);
}

/** Whether the server, the database or the role has no connection left. */
export function isServerFull(error: unknown): boolean {
  return codeOf(error) === SERVER_FULL;
}

/** Whether an error comes from the database or the connection, not from the action itself. */
export function isDatabaseError(error: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(error) ?? '') || isUnavailable(error);
}

export function toUnavailable(cause: unknown): HubError {
  if (isLockTimeout(cause)) return toBusy(cause);
  return new HubError(
    'UNAVAILABLE',
    'The database cannot be reached or written at the moment. Try again.',
    { cause, retryAfterMs: 1_000 },
  );
}

export function toContended(cause: unknown): HubError {
  return new HubError('UNAVAILABLE', 'Other requests changed the same records. Try again.', {
    cause,
    retryAfterMs: 1_000,
  });
}

export function codeOf(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}
