/*
 * A table is defined once: `migrations/` creates it by its definition, and the type of its rows and
 * the names of its columns come from there.
 */

/** The SQL of a column, with the type of its values, which no string has. */
type Column<Value> = string & { readonly '~value': Value };

export type Flag = 0 | 1;

/** A column of fewer values than its SQL tells, such as some texts. */
export function of<Value>(definition: string): Column<Value> {
  return definition as Column<Value>;
}

export interface Table<Columns extends Record<string, string> = Record<string, string>> {
  /** The SQL of each column; without NOT NULL, null is a value. */
  readonly columns: Columns;
  /** The columns of the primary key, then those of each further key. */
  readonly keys: readonly string[];
  /** Whether SQLite stores the rows in the tree of the primary key (WITHOUT ROWID). */
  readonly isKeyed: boolean;
  /** A further column that numbers the rows: on SQLite the row id. */
  readonly numberedBy?: string;
}

/** Defines a table. */
export function table<const Columns extends Record<string, string>>(
  keys: string | readonly string[],
  columns: Columns,
): Table<Columns> {
  return { columns, keys: [keys].flat(), isKeyed: false };
}

/**
 * Defines a table that is only read by key. On SQLite this saves writing a second tree; long rows
 * would make such a tree deep.
 */
export function keyedTable<const Columns extends Record<string, string>>(
  keys: string | readonly string[],
  columns: Columns,
): Table<Columns> {
  return { ...table(keys, columns), isKeyed: true };
}

export type RowOf<Defined extends Table> = {
  -readonly [Name in keyof Defined['columns']]: Cell<Defined['columns'][Name]>;
};
type Cell<Definition> =
  Definition extends Column<infer Value>
    ? Value
    :
        | (Definition extends `TEXT${string}` ? string : number)
        | (Definition extends `${string} NOT NULL${string}` ? never : null);
