import type { Change } from '@signalbox/contract';
import type {
  BatchedWork,
  Database,
  Reader,
  RowWrite,
  SqlValue,
  TextWrite,
  Tx,
  Written,
} from '../db/engine.ts';
import { watchedTables } from './watched-tables.ts';

/** A committed change. A workspace that is null: of any workspace. */
export interface CommittedChange extends Change {
  workspaceId: string | null;
}

/**
 * Makes a database announce what its actions change, once they are durable. It takes this from the
 * writes, so no operation has to announce anything, and none can forget it.
 */
export function watchWrites(
  database: Database,
  announce: (changes: readonly CommittedChange[]) => void,
): Database {
  const watched =
    <T>(action: (tx: Tx) => Promise<T>) =>
    (tx: Tx) =>
      action(new WatchedTx(tx, announce));
  return {
    engine: database.engine,
    get warnings() {
      return database.warnings;
    },
    reader: database.reader,
    write: (scope, action) => database.write(scope, watched(action)),
    writeConcurrent: (scope, action) => database.writeConcurrent(scope, watched(action)),
    setAvailable: (isAvailable) => database.setAvailable(isAvailable),
    schemaChanged: (tx) => database.schemaChanged(tx),
    close: () => database.close(),
  };
}

/** An action that collects what its statements change. */
class WatchedTx implements Tx {
  readonly #tx: Tx;
  readonly #announce: (changes: readonly CommittedChange[]) => void;
  #changes: CommittedChange[] | null = null;

  constructor(tx: Tx, announce: (changes: readonly CommittedChange[]) => void) {
    this.#tx = tx;
    this.#announce = announce;
  }

  get engine(): Tx['engine'] {
    return this.#tx.engine;
  }

  get rowLock(): Reader['rowLock'] {
    return this.#tx.rowLock;
  }

  get kept(): Reader['kept'] {
    return this.#tx.kept;
  }

  get nowMs(): number {
    return this.#tx.nowMs;
  }

  allSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]> {
    return this.#tx.allSql(sql, values);
  }

  firstSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row | undefined> {
    return this.#tx.firstSql(sql, values);
  }

  write(write: RowWrite): Promise<Written> {
    this.#note(write);
    return this.#tx.write(write);
  }

  runSql(sql: string, values: readonly SqlValue[], about?: TextWrite): Promise<Written> {
    if (about !== undefined) this.#note(about);
    return this.#tx.runSql(sql, values, about);
  }

  send(write: RowWrite): void {
    this.#note(write);
    this.#tx.send(write);
  }

  requireExclusive(): void {
    this.#tx.requireExclusive();
  }

  runBatched<Input, Output>(work: BatchedWork<Input, Output>, input: Input): Promise<Output> {
    return this.#tx.runBatched(work, input);
  }

  afterCommit(call: () => void): void {
    this.#tx.afterCommit(call);
  }

  #note(write: TextWrite | RowWrite): void {
    const watched = watchedTables[write.table];
    if (watched === undefined) return;
    const { verb, about } = write;
    const { set, where } = 'set' in write ? write : { set: {}, where: {} };
    const columns = Object.keys(set);
    // An update by a text does not tell its columns, so it is announced.
    const isSilent = columns.length > 0 && columns.every((each) => watched.silent?.includes(each));
    if (verb === 'update' && isSilent) return;
    const chosenBy: RowWrite['set' | 'where'] = verb === 'insert' ? set : where;
    const textOf = (column: string | null) => {
      const value = column === null ? null : (about?.[column] ?? chosenBy[column]);
      return typeof value === 'string' ? value : null;
    };
    const workspaceId = textOf('workspace_id');
    const id = textOf(watched.id);
    for (const kind of watched.kind({ id, set })) this.#add({ workspaceId, kind, id });
  }

  #add(change: CommittedChange): void {
    if (this.#changes === null) {
      const changes: CommittedChange[] = [];
      this.#changes = changes;
      this.#tx.afterCommit(() => this.#announce(changes));
    }
    this.#changes.push(change);
  }
}
