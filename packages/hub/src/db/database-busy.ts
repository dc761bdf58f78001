import { HubError } from '../base/errors.ts';

/** The refusal of an action that has waited too long for a lock of the database. */
export function toBusy(cause: unknown): HubError {
  return new HubError(
    'UNAVAILABLE',
    'The database is busy: another transaction has held a lock for too long. Nothing was changed. ' +
      'Try again; if it stays busy, the operator of the hub must end that transaction.',
    { cause, retryAfterMs: 1_000 },
  );
}
