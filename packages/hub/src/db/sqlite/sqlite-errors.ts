import { HubError } from '../../base/errors.ts';
import { toBusy } from '../database-busy.ts';

/** Primary result codes after which SQLite itself can no longer write (sqlite.org/rescode.html). */
const SQLITE_BUSY = 5;
const SQLITE_NOMEM = 7;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const unavailable = new Set([
  SQLITE_BUSY,
  SQLITE_NOMEM,
  SQLITE_READONLY,
  SQLITE_IOERR,
  SQLITE_FULL,
  SQLITE_CANTOPEN,
]);

/** Whether the engine failed, not the statement: nothing was kept, and a retry may succeed. */
export function isUnavailable(error: unknown): boolean {
  // node:sqlite puts SQLite's extended code into errcode; its low byte is the primary one.
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' && unavailable.has(code & 0xff);
}

/** Whether another process holds the lock of the file. */
export function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' && (code & 0xff) === SQLITE_BUSY;
}

/** Whether the disk failed, so that its content is not known. */
export function isIoError({ errcode }: { errcode: number }): boolean {
  return (errcode & 0xff) === SQLITE_IOERR;
}

/** Whether a statement was run after the database was closed, by a request of a stopping hub. */
export function isClosed(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_INVALID_STATE';
}

export function toWriteFailed(cause: unknown): HubError {
  if (isBusy(cause)) return toBusy(cause);
  return new HubError(
    'UNAVAILABLE',
    'The database cannot be written at the moment; nothing of this request was kept. Try again.',
    { cause, retryAfterMs: 1_000 },
  );
}

/** For a failed sync: only a later start shows whether the disk kept the request. */
export function toSyncFailed(cause: unknown): HubError {
  return new HubError(
    'UNAVAILABLE',
    'The disk cannot be written at the moment; this request may or may not be kept. Try again.',
    { cause, retryAfterMs: 1_000 },
  );
}

/** After a failed sync everything is refused until the hub has started again. */
export function toDiskFailed(cause: unknown): HubError {
  return new HubError(
    'UNAVAILABLE',
    'The disk of the hub failed, so the hub is stopping; nothing of this request was kept. Try again.',
    { cause, retryAfterMs: 1_000 },
  );
}

export function toReadFailed(cause: unknown): HubError {
  return new HubError('UNAVAILABLE', 'The database cannot be read at the moment. Try again.', {
    cause,
    retryAfterMs: 1_000,
  });
}
