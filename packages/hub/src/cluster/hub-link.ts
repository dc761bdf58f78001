import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import pg from 'pg';
import type { SqlValue } from '../db/engine.ts';
import {
  STARTUP_OPTIONS,
  severConnection,
  toUnavailable,
} from '../db/postgres/postgres-database.ts';

/** A channel belongs to one database: hubs of other databases on the server are not notified. */
const CHANNEL = 'signalbox_hints';
/** A database that does not answer on this connection within this time counts as unavailable. */
const ANSWER_MS_MAX = 3_000;
const RECONNECT_MS_MIN = 100;
const RECONNECT_MS_MAX = 1_000;

interface HubLinkOptions {
  url: string;
  /** For `pg_stat_activity`. */
  applicationName: string;
  connectMs: number;
  /** A pooler in transaction mode passes on no notifications, so none are received. */
  isPooled: boolean;
  onNotification: (payload: string) => void;
  /** Connected, for the first time or again: notifications may have been lost before. */
  onConnected: () => void;
  /** The database does not answer or refuses connections. */
  onLost: (cause: unknown) => void;
}

/**
 * A hub's connection for notifications and heartbeats, apart from those of requests. While the hub
 * runs, it reconnects whenever the connection ends. It never opens a transaction, so that a hub
 * that freezes holds no lock.
 */
export class HubLink {
  readonly #options: HubLinkOptions;
  #client: pg.Client | null = null;
  readonly #stopping = new AbortController();
  /** The first attempt, and the end of all. */
  #started: { tried: Promise<void>; ended: Promise<void> } | null = null;

  constructor(options: HubLinkOptions) {
    this.#options = options;
  }

  /** Whether notifications of other hubs are received at the moment. */
  get isListening(): boolean {
    return this.#client !== null && !this.#options.isPooled;
  }

  /**
   * Starts to connect, once; resolves after the first attempt, whether or not it succeeded.
   */
  start(): Promise<void> {
    if (this.#started === null) {
      const { promise: tried, resolve } = Promise.withResolvers<void>();
      this.#started = { tried, ended: this.#run(resolve) };
    }
    return this.#started.tried;
  }

  /**
   * Runs one statement without a transaction around it.
   * @throws HubError UNAVAILABLE, immediately when there is no connection.
   */
  async query<Row>(text: string, values: readonly SqlValue[]): Promise<Row[]> {
    const client = this.#client;
    if (client === null) throw toUnavailable(new Error('not connected'));
    const answer = client.query(text, [...values]);
    const result = await this.#limit(client, answer);
    return result.rows as Row[];
  }

  /** Sends notifications in one transaction of their own. */
  async notify(payloads: readonly string[]): Promise<void> {
    await this.query(
      // A notification need not survive a crash, so it does not wait for the disk.
      `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', payload)
       FROM json_array_elements_text($1::json) AS payload`,
      [JSON.stringify(payloads)],
    );
  }

  /** Ends the connection so that a new one is made, which may reach another server. */
  drop(): void {
    if (this.#client !== null) severConnection(this.#client);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    // Every statement has been answered, so the connection can be cut.
    this.drop();
    await this.#started?.ended;
  }

  async #run(onTried: () => void): Promise<void> {
    const { signal } = this.#stopping;
    let delayMs = RECONNECT_MS_MIN;
    while (!signal.aborted) {
      const client = this.#createClient();
      const ended = new Promise<void>((resolve) => client.once('end', resolve));
      // The statement in progress reports the failure; an error event without a listener would end
      // the hub.
      client.on('error', () => undefined);
      try {
        await this.#connect(client);
        if (signal.aborted) throw new Error('the hub is stopping');
        delayMs = RECONNECT_MS_MIN;
        this.#client = client;
        this.#options.onConnected();
        onTried();
        const startMs = performance.now();
        await ended;
        this.#client = null;
        // A single connection may end while the database is fine: the next attempt finds out.
        if (performance.now() - startMs > RECONNECT_MS_MAX) continue;
      } catch (error) {
        severConnection(client);
        onTried();
        if (!signal.aborted) this.#options.onLost(error);
      }
      await setTimeoutPromise(delayMs, undefined, { signal }).catch(() => undefined);
      delayMs = Math.min(delayMs * 2, RECONNECT_MS_MAX);
    }
  }

  #createClient(): pg.Client {
    const { url, applicationName, connectMs, isPooled, onNotification } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      application_name: applicationName,
      ...(isPooled ? {} : { options: STARTUP_OPTIONS }),
    });
    client.on('notification', ({ payload }) => onNotification(payload ?? ''));
    return client;
  }

  async #connect(client: pg.Client): Promise<void> {
    await client.connect();
    if (this.#options.isPooled) return;
    await this.#limit(client, client.query(`LISTEN ${CHANNEL}`));
  }

  /** Cuts the connection when an answer does not arrive in time. */
  async #limit<T>(client: pg.Client, answer: Promise<T>): Promise<T> {
    let hasArrived = false;
    const overdue = setTimeout(() => {
      // If this process was blocked, the answer may have arrived long ago: the event loop gets a
      // chance to read it first.
      setImmediate(() =>
        setImmediate(() => {
          if (hasArrived) return;
          this.#options.onLost(new Error('the database does not answer'));
          severConnection(client);
        }),
      );
    }, ANSWER_MS_MAX);
    try {
      return await answer;
    } finally {
      hasArrived = true;
      clearTimeout(overdue);
    }
  }
}
