import type { Change } from '@signalbox/contract';
import type { BatchedWork, Database, Reader, RowWrite, SqlValue, Tx } from '../db/engine.ts';
import { isRead } from '../db/is-read.ts';
import { readStatement, type WritingStatement, type WrittenRow } from './read-statement.ts';
import { type WatchedTable, watchedTables } from './watched-tables.ts';

/** A committed change. A workspace that is null: of any workspace. */
export interface CommittedChange extends Change {
  workspaceId: string | null;
}

type Announced = WritingStatement & WatchedTable;

/** Statements are constants, but those with lists have a text for each length. */
const STATEMENTS_KNOWN_MAX = 5_000;
const known = new Map<string, Announced | null>();

/**
 * Makes a database announce what its actions change, once they are durable. It reads this from the
 * statements, so no operation has to announce anything, and none can forget it.
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
    if (!isRead(sql)) this.#note(sql, values);
    return this.#tx.allSql(sql, values);
  }

  firstSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row | undefined> {
    if (!isRead(sql)) this.#note(sql, values);
    return this.#tx.firstSql(sql, values);
  }

  write(write: RowWrite): Promise<{ changes: number }> {
    this.#noteRow(write);
    return this.#tx.write(write);
  }

  runSql(sql: string, values: readonly SqlValue[]): Promise<{ changes: number }> {
    this.#note(sql, values);
    return this.#tx.runSql(sql, values);
  }

  send(sql: string, values: readonly SqlValue[]): void {
    this.#note(sql, values);
    this.#tx.send(sql, values);
  }

  sendRow(write: RowWrite): void {
    this.#noteRow(write);
    this.#tx.sendRow(write);
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

  #note(sql: string, values: readonly SqlValue[]): void {
    const announced = announcedBy(sql);
    if (announced === null) return;
    const { columns, set, where } = announced;
    const valueAt = (at: number | undefined) => (at === undefined ? undefined : values[at]);
    this.#noteChange(announced, {
      columns,
      valueIn: (column) => valueAt(set.get(column)),
      chosenBy: (column) => valueAt(where.get(column)),
    });
  }

  #noteRow({ verb, table, set, where }: RowWrite): void {
    const watched = watchedTables[table];
    const columns = Object.keys(set);
    if (watched === undefined || (verb === 'update' && isSilent(watched, columns))) return;
    this.#noteChange(watched, {
      columns,
      valueIn: (column) => set[column],
      chosenBy: (column) => (verb === 'insert' ? set[column] : where[column]),
    });
  }

  #noteChange(
    { kind, id: idColumn }: WatchedTable,
    {
      columns,
      valueIn,
      chosenBy,
    }: Pick<WrittenRow, 'columns' | 'valueIn'> & {
      chosenBy(column: string): SqlValue | undefined;
    },
  ): void {
    const textOf = (column: string | null) => {
      const value = column === null ? null : chosenBy(column);
      return typeof value === 'string' ? value : null;
    };
    const workspaceId = textOf('workspace_id');
    const id = textOf(idColumn);
    for (const changed of kind({ workspaceId, id, columns, valueIn })) {
      this.#add({ workspaceId, kind: changed, id });
    }
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

/** The changes that a statement announces, read once for each text; null: none. */
function announcedBy(sql: string): Announced | null {
  let announced = known.get(sql);
  if (announced === undefined) {
    announced = readAnnounced(sql);
    if (known.size >= STATEMENTS_KNOWN_MAX) known.clear();
    known.set(sql, announced);
  }
  return announced;
}

function readAnnounced(sql: string): Announced | null {
  const statement = readStatement(sql, (table) => Object.hasOwn(watchedTables, table));
  const table = statement === null ? undefined : watchedTables[statement.table];
  if (statement === null || table === undefined) return null;
  const { verb, columns } = statement;
  return verb === 'update' && isSilent(table, columns) ? null : { ...statement, ...table };
}

/** An update whose columns were not understood is announced. */
function isSilent({ silent }: WatchedTable, columns: readonly string[]): boolean {
  return columns.length > 0 && columns.every((column) => silent?.includes(column));
}
