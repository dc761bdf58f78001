import type { Schema } from './schema/tables.ts';

/*
 * The interface that the rest of the hub sees of its database, whichever engine it runs on. From
 * top to bottom: the database, the atomic action, reads, and the values that they exchange.
 */

/** The engines that the hub runs on. */
export type EngineName = 'sqlite' | 'postgres';

export interface Database {
  readonly engine: EngineName;
  /** Warnings for the operator about the settings of the server: one sentence each. */
  readonly warnings: readonly string[];
  /** Reads committed data. */
  readonly reader: Reader;
  /**
   * Runs one atomic action that reads and writes as if no other were in progress in its scope, on
   * this hub or another. Resolves when the action is durable.
   *
   * @param scope contains everything that the action's writes depend on: a workspace; a few
   *   workspaces and other subjects, by their ids; or null: the action excludes every other, on all
   *   hubs, as migrations do and the start of a new epoch.
   */
  write<T>(scope: WriteScope, action: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs one atomic action concurrently with others of its workspace, except those of `write`. For
   * the hot paths: what they read in order to write is guarded by the row locks of
   * `claim-postgres.ts`, by fences, by unique indexes or by a key; an action with an unguarded read
   * calls `requireExclusive` first. The action may be restarted, so its only effects are its
   * statements and `afterCommit`.
   */
  writeConcurrent<T>(scope: ConcurrentScope, action: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Called by the health monitor. While the database is unavailable, every call fails immediately
   * with 503.
   */
  setAvailable(isAvailable: boolean): void;
  /** Has a function called for each write, before it; the action may still be undone. */
  watch(note: NoteWrite): void;
  /** Call within the action that has changed the schema. */
  schemaChanged(tx: Tx): Promise<void>;
  /** Resolves when the actions that were handed in before have ended. */
  close(): Promise<void>;
}

export type NoteWrite = (tx: Tx, write: TextWrite | RowWrite) => void;

/** The scope of an action that excludes others: one id, a few, or everything. */
export type WriteScope = string | readonly string[] | null;

/** The scope of what belongs to no workspace: sessions, logins in progress, unknown chat teams. */
export const NO_WORKSPACE = '';

/** The scope of a concurrent action. */
export interface ConcurrentScope {
  workspaceId: string;
  /**
   * The subjects of the action, such as the id of a job. A hub runs one action at a time of those
   * that share a key.
   */
  keys: readonly string[];
  /**
   * Names actions that mostly ask for the same rows with `kept-reads.ts`. On PostgreSQL, what they
   * asked for late is read early by the next transaction, so none of it may depend on a row lock,
   * nor on what such an action has written.
   */
  kind?: string;
}

/**
 * One atomic action. It commits as a whole when its function returns and leaves nothing when it
 * throws. An action awaits nothing but its own statements: on SQLite all waiting actions share one
 * transaction, so awaiting anything else would delay every other write.
 */
export interface Tx extends Reader {
  /**
   * The database's clock at the start of the action: the one clock of all lease arithmetic. On
   * PostgreSQL, a concurrent action that takes it before its first read takes a round trip more.
   */
  readonly nowMs: number;
  /** Use the functions of `row-write.ts`, which know the columns of each table. */
  write(write: RowWrite): Promise<Written>;
  /**
   * Writes one row without waiting for it: on PostgreSQL the statement leaves together with the
   * next one that is waited for, or with the commit. The action fails if the statement fails or
   * does not change exactly one row, also if that is known only after the action has returned.
   *
   * @param write an insert or update without `conflict` and `returning`. Of several that an action
   *   sends, each sees the rows of those before.
   */
  send(write: RowWrite): void;
  /**
   * Runs a statement that no `RowWrite` can express, such as INSERT … SELECT.
   *
   * @param about what it writes, since its text is not read. Without it, nothing is announced and
   *   no row stays in memory: for the schema and for the tables of the engine only.
   */
  runSql(sql: string, values: readonly SqlValue[], about?: TextWrite): Promise<Written>;
  /**
   * Escalates an action of `writeConcurrent`: continues only when no other action of the workspace
   * is in progress, and restarts the action under the exclusive lock if necessary. Free for the
   * other actions of the transaction when called before this one writes. A no-op within `write`.
   */
  requireExclusive(): void;
  /**
   * Reads once for this action and for all concurrent ones that ask for the same at the moment; for
   * this action only when no other does.
   */
  runBatched<Input, Output>(work: BatchedWork<Input, Output>, input: Input): Promise<Output>;
  /** Registers a call for when the action is durable; it is never made if it does not commit. */
  afterCommit(call: () => void): void;
}

/** The result of a write. */
export interface Written {
  changes: number;
  /** The rows that it returns. */
  rows: object[];
}

/** The table that a text writes, and what its rows have in common. */
export interface TextWrite {
  readonly verb: 'insert' | 'update' | 'delete';
  readonly table: string;
  /** Ids for the live stream. Without `workspace_id`, the rows are of any workspace. */
  readonly about?: Readonly<Record<string, SqlValue>> | undefined;
}

/** A write of one table, as data; null is a value. */
export interface RowWrite extends TextWrite {
  /** The row that is inserted, or the columns that are updated. */
  readonly set: Readonly<Record<string, WriteValue>>;
  /** Chooses the rows that are updated or deleted; a list allows any of its values. */
  readonly where: Readonly<Record<string, SqlValue | readonly string[]>>;
  /** Chooses them further. */
  readonly also?: SqlPart | undefined;
  /** For a row with the same values in the columns of a unique index. */
  readonly conflict?:
    | {
        readonly columns: readonly string[];
        /** Its columns that are updated, instead of an insertion; empty: none. */
        readonly set: Readonly<Record<string, WriteValue>>;
      }
    | undefined;
  /** The columns of the written rows that are returned. */
  readonly returning?: string | undefined;
}

/** A part of a statement, in the SQL that both engines share, with `?` for its values. */
export interface SqlPart {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export type WriteValue = SqlValue | SqlPart;

/** Reads that are made once for several actions, such as locking the next ready entries. */
export interface BatchedWork<Input, Output> {
  /** @returns one output for each input, in their order. */
  run(reader: Reader, inputs: readonly Input[]): Promise<Output[]>;
}

/**
 * Reads rows. Statements write nothing, except for row locks; they have `?` placeholders, and each
 * engine prepares them once.
 */
export interface Reader {
  readonly engine: EngineName;
  /**
   * The end of a SELECT of a single row that is going to be written: a row lock within an action on
   * PostgreSQL, where other actions may be writing the same row, and empty everywhere else.
   */
  readonly rowLock: '' | ' FOR NO KEY UPDATE';
  /**
   * Rows that need no statement of their own; use `kept-reads.ts`. On SQLite they stay in memory
   * until they are written. On PostgreSQL, where other hubs may write them, actions of a kind may
   * find them read early. Null everywhere else.
   */
  readonly kept: KeptReads | null;
  allSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]>;
  firstSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row | undefined>;
}

/** A statement whose rows change rarely and are read by every request. Made once, as a constant. */
export interface KeptRead {
  readonly sql: string;
  /**
   * The rows depend on these: tables, or columns of a table in the form `table.column` when updates
   * of the other columns do not matter.
   */
  readonly sources: readonly (keyof Schema | `${keyof Schema}.${string}`)[];
}

export interface KeptReads {
  all<Row extends object>(
    read: KeptRead,
    values: readonly string[],
  ): Promise<readonly Readonly<Row>[]>;
}

/** A value that a statement may bind. Times are integers in ms, flags 0 or 1, JSON is text. */
export type SqlValue = string | number | null;
