import type { Duplex } from 'node:stream';
import pg from 'pg';
import { assert } from '../../base/errors.ts';
import type { SqlValue } from '../engine.ts';
import {
  isConnectionBroken,
  isDemoted,
  isServerFull,
  isStalePlan,
  toUnavailable,
} from './postgres-errors.ts';

/** The time limits of a session; docs/operate/postgresql.md gives the reasons. */
export interface SessionLimits {
  connectMs: number;
  statementMs: number;
  lockMs: number;
  idleInTransactionMs: number;
}

interface SessionOptions {
  url: string;
  /** Connections at most. */
  sessionsMax: number;
  limits: SessionLimits;
  /**
   * Behind a pooler in transaction mode: named statements and settings end with the transaction,
   * and startup parameters are not passed on.
   */
  isPooled: boolean;
}

export interface Answer<Row = Record<string, unknown>> {
  rows: Row[];
  /** Rows that an INSERT, UPDATE or DELETE changed. */
  changes: number;
}

const INT8 = 20;
const NUMERIC = 1700;
const BOOL = 16;
const JSON_TYPES = [114, 3802];

/** Give values the form that they have on SQLite: integers as numbers, flags 0 or 1, JSON text. */
const parsers = new Map<number, (text: string) => unknown>([
  [INT8, Number],
  [NUMERIC, Number],
  [BOOL, (text) => (text === 't' ? 1 : 0)],
  ...JSON_TYPES.map((type): [number, (text: string) => unknown] => [type, (text) => text]),
]);
const types: pg.CustomTypesConfig = {
  getTypeParser: ((type: number, format?: 'text' | 'binary') =>
    parsers.get(type) ?? pg.types.getTypeParser(type, format)) as typeof pg.types.getTypeParser,
};

/** Distinct statements are few and fixed; beyond the limit they get no name, to prevent a leak. */
const STATEMENTS_MAX = 1_000;
const statementNames = new Map<string, string>();

function nameOf(text: string): string | undefined {
  let name = statementNames.get(text);
  if (name === undefined && statementNames.size < STATEMENTS_MAX) {
    name = `s${statementNames.size}`;
    statementNames.set(text, name);
  }
  return name;
}

interface SessionParts {
  isPooled: boolean;
  beginText: string;
  lockMs: number;
  /** Called when a statement of the session was prepared for an earlier schema. */
  onStalePlan: () => void;
}

/** A connection that belongs to one caller until it is released. */
export class Session {
  readonly #client: pg.PoolClient;
  readonly #isPooled: boolean;
  /** The statements that begin a transaction. */
  readonly beginText: string;
  /** How long a statement waits for a row. */
  readonly lockMs: number;
  readonly #onStalePlan: () => void;
  #broken = false;

  constructor(client: pg.PoolClient, { isPooled, beginText, lockMs, onStalePlan }: SessionParts) {
    this.#client = client;
    this.#isPooled = isPooled;
    this.beginText = beginText;
    this.lockMs = lockMs;
    this.#onStalePlan = onStalePlan;
  }

  async query<Row>(text: string, values: readonly (SqlValue | SqlValue[])[]): Promise<Answer<Row>> {
    const result = await this.#send<Row>({ text, values: [...values] });
    return { rows: result.rows, changes: result.rowCount ?? 0 };
  }

  /** Runs a single read. Behind a pooler it needs a transaction, which sets the time limits. */
  async read<Row>(text: string, values: readonly SqlValue[]): Promise<Answer<Row>> {
    if (!this.#isPooled) return this.query<Row>(text, values);
    // Pipelined; all three have ended when the session is released.
    const [begun, answer] = await Promise.allSettled([
      this.script(this.beginText),
      this.query<Row>(text, values),
      this.script('COMMIT'),
    ]);
    if (begun.status === 'rejected') throw begun.reason;
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  }

  /** Like `query`, but returns rows as arrays in the order of `columns`. */
  async queryArrays(
    text: string,
    values: readonly (SqlValue | SqlValue[])[],
  ): Promise<{ columns: string[]; rows: unknown[][] }> {
    const result = await this.#send<unknown[]>({ text, values: [...values], rowMode: 'array' });
    return { columns: result.fields.map((field) => field.name), rows: result.rows };
  }

  /** Runs several statements without values in one round trip. */
  async script(text: string): Promise<pg.QueryResult[]> {
    const results = await this.#watch(this.#client.query(text));
    return Array.isArray(results) ? results : [results];
  }

  /** Sends the statements that `ask` starts in one packet, as far as the driver allows. */
  together<T>(ask: () => T): T {
    const stream = streamOf(this.#client);
    stream.cork();
    try {
      return ask();
    } finally {
      stream.uncork();
    }
  }

  /** Returns the connection to the pool; closes it if it is broken or the server is a standby. */
  release(): void {
    this.#client.release(this.#broken);
  }

  /** Makes `release` close the connection, because its state is not known. */
  discard(): void {
    this.#broken = true;
  }

  #send<Row>(config: {
    text: string;
    values: (SqlValue | SqlValue[])[];
    rowMode?: 'array';
  }): Promise<pg.QueryResult<Row & pg.QueryResultRow>> {
    const name = this.#isPooled ? undefined : nameOf(config.text);
    const query = name === undefined ? config : { ...config, name };
    return this.#watch(this.#client.query(query as pg.QueryConfig));
  }

  async #watch<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (isConnectionBroken(error) || isDemoted(error)) this.#broken = true;
      if (isStalePlan(error)) this.#onStalePlan();
      throw error;
    }
  }
}

/**
 * The isolation that the locks assume: what a transaction reads after it has waited for a lock is
 * no older than the lock. The database's default may be stricter. Whether the transaction may write
 * stays the server's choice, since READ WRITE would break through a read-only fence.
 */
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';
/**
 * Settings of the planner. To compile a statement (jit) takes longer than to run any of the hub's.
 * Rows are found by an index: by default the planner scans a table that is small, and a session
 * keeps that plan while the table grows, until the table is analyzed: for a minute, each statement
 * would take longer than the one before.
 */
const PLANNER = {
  jit: 'off',
  enable_seqscan: 'off',
} as const;
/** Startup options. A single statement has its own transaction, with the default isolation. */
export const STARTUP_OPTIONS = [
  'default_transaction_isolation=read\\ committed',
  ...Object.entries(PLANNER).map(([name, value]) => `${name}=${value}`),
]
  .map((setting) => `-c ${setting}`)
  .join(' ');
/** How long a hub makes do with its open connections after the server had none left. */
const FULL_SERVER_PAUSE_MS = 5_000;

/** The connections of one hub for one purpose. */
export class Sessions {
  readonly #pool: pg.Pool;
  readonly #clients = new Set<pg.PoolClient>();
  /** Those with statements of an earlier schema. */
  readonly #stale = new WeakSet<pg.PoolClient>();
  readonly #isPooled: boolean;
  readonly #sessionsMax: number;
  readonly #connectMs: number;
  readonly #lockMs: number;
  #beginText = BEGIN;
  #isAvailable = true;

  constructor({ url, sessionsMax, limits, isPooled }: SessionOptions) {
    this.#isPooled = isPooled;
    this.#sessionsMax = sessionsMax;
    this.#connectMs = limits.connectMs;
    this.#lockMs = limits.lockMs;
    const settings = {
      statement_timeout: limits.statementMs,
      lock_timeout: limits.lockMs,
      idle_in_transaction_session_timeout: limits.idleInTransactionMs,
    };
    if (isPooled) this.beginWith({ ...settings, ...PLANNER });
    this.#pool = new pg.Pool({
      Client: SeveringClient,
      connectionString: url,
      max: sessionsMax,
      // Statements are sent without waiting for earlier answers.
      pipeline: true,
      connectionTimeoutMillis: limits.connectMs,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      application_name: 'signalbox',
      types,
      ...(isPooled ? {} : { ...settings, options: STARTUP_OPTIONS }),
    });
    // A broken connection is replaced when it is needed, and the statement in progress reports the
    // failure; an error event without a listener would end the hub.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined);
      this.#clients.add(client);
    });
    this.#pool.on('remove', (client) => this.#clients.delete(client));
  }

  /**
   * Makes a connection that the pool keeps, before requests use it.
   *
   * @param connectMs how long this one may take.
   * @throws HubError UNAVAILABLE
   */
  async openFirst(connectMs: number): Promise<void> {
    this.#pool.options.connectionTimeoutMillis = connectMs;
    try {
      (await this.acquire()).release();
    } finally {
      this.#pool.options.connectionTimeoutMillis = this.#connectMs;
    }
  }

  /** Adds settings to every transaction from now on. */
  beginWith(settings: Readonly<Record<string, string | number>>): void {
    for (const [name, value] of Object.entries(settings)) {
      this.#beginText += `; SET LOCAL ${name} = '${value}'`;
    }
  }

  /**
   * Cuts every connection when the database becomes unavailable, so that statements in progress
   * fail immediately; until it is available again, `acquire` fails without trying.
   */
  setAvailable(isAvailable: boolean): void {
    this.#isAvailable = isAvailable;
    if (!isAvailable) for (const client of this.#clients) severConnection(client);
  }

  /** @throws HubError UNAVAILABLE when no connection can be made in time. */
  async acquire(): Promise<Session> {
    if (!this.#isAvailable) throw toUnavailable(new Error('the database is unavailable'));
    try {
      const client = await this.#connect();
      return new Session(client, {
        isPooled: this.#isPooled,
        beginText: this.#beginText,
        lockMs: this.#lockMs,
        onStalePlan: () => this.#replaceAll(client),
      });
    } catch (cause) {
      throw toUnavailable(cause);
    }
  }

  /**
   * Replaces the connections that were made before the schema changed, each when it is taken next.
   * @param failed one of them; when it was made since, the schema has changed again.
   */
  #replaceAll(failed: pg.PoolClient): void {
    if (this.#stale.has(failed)) return;
    for (const client of this.#clients) this.#stale.add(client);
  }

  /**
   * Takes a free connection or makes one. When the server has no slot left, waits for a connection
   * that is open instead, and makes no further one for a while.
   */
  async #connect(): Promise<pg.PoolClient> {
    const endMs = performance.now() + this.#connectMs;
    for (;;) {
      try {
        const client = await this.#pool.connect();
        if (!this.#stale.has(client)) return client;
        client.release(true);
      } catch (error) {
        const isLate = performance.now() >= endMs;
        if (!isServerFull(error) || this.#clients.size === 0 || isLate) throw error;
        this.#pool.options.max = this.#clients.size;
        const restore = () => {
          this.#pool.options.max = this.#sessionsMax;
        };
        setTimeout(restore, FULL_SERVER_PAUSE_MS).unref();
      }
    }
  }

  /** Runs work on a session that is released afterwards. */
  async use<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.acquire();
    try {
      return await work(session);
    } finally {
      session.release();
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** Closes the socket when a connection cannot be made; the driver would leave it open. */
class SeveringClient extends pg.Client {
  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    assert(callback !== undefined, 'the pool connects with a callback');
    super.connect((error: Error) => {
      if (error) severConnection(this);
      callback(error);
    });
    return undefined;
  }
}

/** Ends a connection without waiting for the server, which may not answer. */
export function severConnection(client: pg.ClientBase): void {
  streamOf(client).destroy();
}

/** The driver's socket; the driver offers no other way to cork or to destroy it. */
function streamOf(client: pg.ClientBase): Duplex {
  return (client as unknown as { connection: { stream: Duplex } }).connection.stream;
}
