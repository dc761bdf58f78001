import { actingCaller } from './acting-caller.ts';
import type { Database, Tx } from './engine.ts';

/**
 * Makes a database heed the guard of the request that writes. No operation has to call it, so none
 * can forget it.
 */
export function guardWrites(database: Database): Database {
  const guarded = <T>(action: (tx: Tx) => Promise<T>): ((tx: Tx) => Promise<T>) => {
    const guard = actingCaller()?.guard ?? null;
    if (guard === null) return action;
    return async (tx) => {
      await guard(tx);
      return action(tx);
    };
  };
  return {
    engine: database.engine,
    warnings: database.warnings,
    reader: database.reader,
    write: (scope, action) => database.write(scope, guarded(action)),
    writeConcurrent: (scope, action) => database.writeConcurrent(scope, guarded(action)),
    watch: (note) => database.watch(note),
    setAvailable: (isAvailable) => database.setAvailable(isAvailable),
    schemaChanged: (tx) => database.schemaChanged(tx),
    close: () => database.close(),
  };
}
