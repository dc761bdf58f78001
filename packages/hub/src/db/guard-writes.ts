import { AsyncLocalStorage } from 'node:async_hooks';
import type { Database, Tx } from './engine.ts';

/** Checks, within an action, that its caller may still act. Throws the refusal. */
export type WriteGuard = (tx: Tx) => Promise<void>;

const guards = new AsyncLocalStorage<WriteGuard>();

/** Runs a request with a guard that precedes each of its actions, within their transactions. */
export function withWriteGuard<T>(guard: WriteGuard, run: () => T): T {
  return guards.run(guard, run);
}

/**
 * Makes a database heed the guard of the request that writes. No operation has to call it, so none
 * can forget it.
 */
export function guardWrites(database: Database): Database {
  const guarded = <T>(action: (tx: Tx) => Promise<T>): ((tx: Tx) => Promise<T>) => {
    const guard = guards.getStore();
    if (guard === undefined) return action;
    return async (tx) => {
      await guard(tx);
      return action(tx);
    };
  };
  return {
    engine: database.engine,
    get warnings() {
      return database.warnings;
    },
    reader: database.reader,
    write: (scope, action) => database.write(scope, guarded(action)),
    writeConcurrent: (scope, action) => database.writeConcurrent(scope, guarded(action)),
    setAvailable: (isAvailable) => database.setAvailable(isAvailable),
    schemaChanged: (tx) => database.schemaChanged(tx),
    close: () => database.close(),
  };
}
