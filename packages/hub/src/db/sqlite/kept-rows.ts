import type { KeptRead, KeptReads, RowWrite, SqlValue, TextWrite } from '../engine.ts';

/** How long a change by another process, such as a CLI command, may go unnoticed. */
const OTHERS_UNNOTICED_MS_MAX = 1_000;
/** Approximate memory of the rows of one statement; beyond it, they are read again. */
const BYTES_MAX = 8 * 1_024 * 1_024;
/** A longer list of values, such as the repositories of an agent, is not worth its memory. */
const KEY_CHARS_MAX = 2_048;
const ROW_BYTES = 500;

interface KeptTable {
  rows: Map<string, readonly object[]>;
  sizeBytes: number;
  /** How often it was emptied. */
  version: number;
}

/** The statements of the connection whose rows are kept. */
interface RowSource {
  allSql(sql: string, values: readonly SqlValue[]): Promise<readonly object[]>;
  /** Changes when another process has committed. */
  dataVersion(): number;
}

/**
 * Keeps rows that change rarely and that every request reads. The one connection that writes tells
 * what it writes (`noteWrite`) and rolls back (`clear`), so the rows are those that a statement
 * would return within the open transaction.
 */
export class KeptRows implements KeptReads {
  readonly #source: RowSource;
  readonly #elapsedMs: () => number;
  readonly #tables = new Map<KeptRead, KeptTable>();
  /** The rows that depend on a table, and on which column; null: on all. */
  readonly #bySource = new Map<string, { column: string | null; kept: KeptTable }[]>();
  #dataVersion = 0;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(source: RowSource, elapsedMs: () => number) {
    this.#source = source;
    this.#elapsedMs = elapsedMs;
  }

  async all<Row extends object>(
    read: KeptRead,
    values: readonly string[],
  ): Promise<readonly Readonly<Row>[]> {
    this.#checkOthers();
    const table = this.#tables.get(read) ?? this.#addTable(read);
    const key = values.join('\0');
    const known = table.rows.get(key);
    // The author of the statement vouches for the type of its rows, as with `allSql`.
    if (known !== undefined) return known as readonly Row[];
    const { version } = table;
    const rows = await this.#source.allSql(read.sql, values);
    // The action may have written meanwhile, by a statement that it sent together with this one.
    if (table.version === version) this.#keep(table, key, rows);
    return rows as readonly Row[];
  }

  /**
   * Drops what depends on a table, or on the columns that are updated.
   *
   * @param write undefined: not known.
   */
  noteWrite(write: TextWrite | RowWrite | undefined): void {
    if (write === undefined) {
      this.clear();
      return;
    }
    const updated = write.verb === 'update' && 'set' in write ? write.set : null;
    for (const { column, kept } of this.#bySource.get(write.table) ?? []) {
      if (column === null || updated === null || Object.hasOwn(updated, column)) empty(kept);
    }
  }

  /** Call it after a rollback, which may undo what was read since. */
  clear(): void {
    for (const table of this.#tables.values()) empty(table);
  }

  #addTable(read: KeptRead): KeptTable {
    const table: KeptTable = { rows: new Map(), sizeBytes: 0, version: 0 };
    this.#tables.set(read, table);
    for (const source of read.sources) {
      const [name = '', column = null] = source.split('.');
      const known = this.#bySource.get(name) ?? [];
      this.#bySource.set(name, [...known, { column, kept: table }]);
    }
    return table;
  }

  #keep(table: KeptTable, key: string, rows: readonly object[]): void {
    const sizeBytes = key.length + (rows.length + 1) * ROW_BYTES;
    if (key.length > KEY_CHARS_MAX || sizeBytes > BYTES_MAX) return;
    if (table.sizeBytes + sizeBytes > BYTES_MAX) empty(table);
    table.rows.set(key, rows);
    table.sizeBytes += sizeBytes;
  }

  #checkOthers(): void {
    const nowMs = this.#elapsedMs();
    if (nowMs - this.#checkedAtMs < OTHERS_UNNOTICED_MS_MAX) return;
    this.#checkedAtMs = nowMs;
    const version = this.#source.dataVersion();
    if (version !== this.#dataVersion) this.clear();
    this.#dataVersion = version;
  }
}

function empty(table: KeptTable): void {
  table.rows.clear();
  table.sizeBytes = 0;
  table.version += 1;
}
