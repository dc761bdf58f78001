import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import pg from 'pg';
import type { SqlValue } from '../db/engine.ts';
import { toUnavailable } from '../db/postgres/postgres-errors.ts';
import { severConnection } from '../db/postgres/postgres-session.ts';

/** Database-wide, so hubs of other databases of the server are not heard. */
const CHANNEL = 'signalbox_hints';
/** A database that lets an answer of this connection wait longer counts as away. */
const ANSWER_MS_MAX = 3_000;
const RECONNECT_MS_MIN = 100;
const RECONNECT_MS_MAX = 1_000;

export interface HubLinkOptions {
  url: string;
  connectMs: number;
  /** A pooler in transaction mode passes on no notices: nothing is heard then. */
  isPooled: boolean;
  onNotice: (payload: string) => void;
  /** The connection is there, for the first time or again: something may have been missed. */
  onConnected: () => void;
  /** The database does not answer, or cannot be connected to. */
  onLost: (cause: unknown) => void;
}

/**
 * A hub's one connection for what concerns the hubs together: notices, and the pulse. It is made
 * anew for as long as the hub runs. It is never in a transaction of its own making, so that a hub
 * that freezes holds nothing.
 */
export class HubLink {
  readonly #options: HubLinkOptions;
  #client: pg.Client | null = null;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;

  constructor(options: HubLinkOptions) {
    this.#options = options;
  }

  /** Whether notices of other hubs are heard just now. */
  get isListening(): boolean {
    return this.#client !== null && !this.#options.isPooled;
  }

  /** Connects, and resolves after the first try, however it ended. */
  start(): Promise<void> {
    const first = Promise.withResolvers<void>();
    this.#running = this.#run(first.resolve);
    return first.promise;
  }

  /**
   * One statement, without a transaction around it.
   * @throws HubError UNAVAILABLE, at once when there is no connection.
   */
  async query<Row>(text: string, values: readonly SqlValue[]): Promise<Row[]> {
    const client = this.#client;
    if (client === null) throw toUnavailable(new Error('there is no connection'));
    const answer = client.query(text, [...values]);
    const result = await this.#limit(client, answer);
    return result.rows as Row[];
  }

  /** Sends notices, in one transaction of their own. */
  async notify(payloads: readonly string[]): Promise<void> {
    await this.query(
      // Nobody waits for a notice to be on the disk.
      `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', payload)
       FROM json_array_elements_text($1::json) AS payload`,
      [JSON.stringify(payloads)],
    );
  }

  /** Leaves the connection, for another to be made: the server is not the one that is needed. */
  drop(): void {
    if (this.#client !== null) severConnection(this.#client);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    // All that was to be said has been answered, so there is nothing to take leave of.
    this.drop();
    await this.#running;
  }

  async #run(onTried: () => void): Promise<void> {
    const { signal } = this.#stopping;
    let delayMs = RECONNECT_MS_MIN;
    while (!signal.aborted) {
      const client = this.#createClient();
      const ended = new Promise<void>((resolve) => client.once('end', resolve));
      // Whoever waits for an answer is told by that answer.
      client.on('error', () => undefined);
      try {
        await this.#connect(client);
        if (signal.aborted) throw new Error('the hub stops');
        delayMs = RECONNECT_MS_MIN;
        this.#client = client;
        this.#options.onConnected();
        onTried();
        const startMs = performance.now();
        await ended;
        this.#client = null;
        // One connection may end without anything else being amiss: the next try shows.
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
    const { url, connectMs, onNotice } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: connectMs,
      keepAlive: true,
      application_name: 'signalbox hub',
    });
    client.on('notification', ({ payload }) => onNotice(payload ?? ''));
    return client;
  }

  async #connect(client: pg.Client): Promise<void> {
    await client.connect();
    if (this.#options.isPooled) return;
    await this.#limit(client, client.query(`LISTEN ${CHANNEL}`));
  }

  /** Gives an answer up that does not come in time, and the connection with it. */
  async #limit<T>(client: pg.Client, answer: Promise<T>): Promise<T> {
    let isHere = false;
    const overdue = setTimeout(() => {
      // A hub that was held up itself reads an answer next that has been there for long.
      setImmediate(() =>
        setImmediate(() => {
          if (isHere) return;
          this.#options.onLost(new Error('the database does not answer'));
          severConnection(client);
        }),
      );
    }, ANSWER_MS_MAX);
    try {
      return await answer;
    } finally {
      isHere = true;
      clearTimeout(overdue);
    }
  }
}
