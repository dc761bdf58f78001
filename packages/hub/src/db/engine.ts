import type { Compilable, Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** What a statement may bind. Times are integers in ms, flags 0 or 1, JSON is text. */
export type SqlValue = string | number | null;

/** The engines that the hub runs on. */
export type EngineName = 'sqlite' | 'postgres';

/**
 * Reads of committed state. Ordinary nouns hand in Kysely queries made with `Database.build`;
 * hot paths hand in SQL text with `?` placeholders, which each engine prepares once.
 */
export interface Reader {
  readonly engine: EngineName;
  all<Row>(query: Compilable<Row>): Promise<Row[]>;
  first<Row>(query: Compilable<Row>): Promise<Row | undefined>;
  allSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]>;
  firstSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row | undefined>;
}

/**
 * One atomic action. It commits whole when its function returns and leaves nothing when it throws.
 * An action awaits nothing but its own statements: on SQLite all waiting actions share one
 * transaction, and whatever else it waited for would hold up every other write.
 */
export interface Tx extends Reader {
  /** The database's clock at the start of the action: the one clock of all lease arithmetic. */
  readonly nowMs: number;
  run(query: Compilable<unknown>): Promise<{ changes: number }>;
  runSql(sql: string, values: readonly SqlValue[]): Promise<{ changes: number }>;
  /** Calls when the action is durable; never when it is not. */
  afterCommit(call: () => void): void;
}

export interface Database {
  readonly engine: EngineName;
  /** Makes queries; never runs them. Stateless, so one serves all. */
  readonly build: Kysely<Schema>;
  /** Reads what is committed. */
  readonly reader: Reader;
  /** Runs one atomic action; the answer comes when it is durable. */
  write<T>(action: (tx: Tx) => Promise<T>): Promise<T>;
  /** Ends after the actions that were handed in before. */
  close(): Promise<void>;
}
