import type { Compilable, Kysely } from 'kysely';
import type { Schema } from './schema/tables.ts';

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
  /**
   * What a SELECT of a single row ends with that is written next: nothing, but within an action on
   * PostgreSQL, where others may be at the row as well.
   */
  readonly rowLock: '' | ' FOR NO KEY UPDATE';
  all<Row>(query: Compilable<Row>): Promise<Row[]>;
  first<Row>(query: Compilable<Row>): Promise<Row | undefined>;
  allSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row[]>;
  firstSql<Row>(sql: string, values: readonly SqlValue[]): Promise<Row | undefined>;
}

/** Work that many actions want done at once, such as a claim of the next ready entry. */
export interface Gathering<Input, Output> {
  /** @returns an output for each input, in their order. */
  run(tx: Tx, inputs: readonly Input[]): Promise<Output[]>;
  /** Whether anything was written for the input that has this output. */
  hasWritten(output: Output): boolean;
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
  /**
   * Escalates an action of `writeConcurrent`: continues only when no other action of the workspace
   * is in progress, and restarts the action under the exclusive lock if necessary. Free for the
   * other actions of the transaction when called before this one writes. A no-op within `write`.
   */
  requireExclusive(): void;
  /**
   * Does a piece of work for this action and for those beside it that want the same just now, in
   * one go; for this one alone where none are.
   */
  gather<Input, Output>(work: Gathering<Input, Output>, input: Input): Promise<Output>;
  /** Calls when the action is durable; never when it is not. */
  afterCommit(call: () => void): void;
}

/** The scope of what belongs to no workspace: sessions, logins under way, unknown chat teams. */
export const NO_WORKSPACE = '';

/** Where an action runs that others of its workspace may run beside. */
export interface ConcurrentScope {
  workspaceId: string;
  /** What it works on, such as the id of a job: of actions that share one, the hub runs one. */
  keys: readonly string[];
}

export interface Database {
  readonly engine: EngineName;
  /** Makes queries; never runs them. Stateless, so one serves all. */
  readonly build: Kysely<Schema>;
  /** What the operator should know of the engine's settings: a sentence each. */
  readonly warnings: readonly string[];
  /** Reads what is committed. */
  readonly reader: Reader;
  /**
   * Runs one atomic action that reads and writes as if no other were under way in its scope, on
   * this hub or another; the answer comes when it is durable.
   *
   * @param workspaceId the scope: all that the action reads in order to write lies in it; null: it
   *   lies in several workspaces or in none, and the action excludes every other.
   */
  write<T>(workspaceId: string | null, action: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs one atomic action concurrently with others of its workspace, except those of `write`. For
   * the hot paths: what they read in order to write is guarded by the row locks of
   * `queue-postgres.ts`, by fences, by unique indexes or by a key; an action with an unguarded read
   * calls `requireExclusive` first. The action may be restarted, so its only effects are its
   * statements and `afterCommit`.
   */
  writeConcurrent<T>(scope: ConcurrentScope, action: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Called by the health monitor. While the database is unavailable, every call fails immediately
   * with 503.
   */
  setAvailable(isAvailable: boolean): void;
  /** Ends after the actions that were handed in before. */
  close(): Promise<void>;
}
