import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { Span } from './span.ts';

/** Minimum share of requests sent on time; tolerates only the last few. */
const SENT_SHARE_MIN = 0.98;

/** A pool of connections; each request uses an idle one. */
export class ConnectionPool {
  readonly #idle: Connection[];

  constructor(connections: readonly Connection[]) {
    this.#idle = [...connections];
  }

  /** Runs an action on an idle connection; returns false if all are in use. */
  use(act: (connection: Connection) => Promise<void>, onFailure: (error: unknown) => void) {
    // Use the longest idle one, because servers close connections that stay idle.
    const connection = this.#idle.shift();
    if (connection === undefined) return false;
    act(connection).then(() => this.#idle.push(connection), onFailure);
    return true;
  }
}

/**
 * Sends at a fixed rate until the time is over. Late requests are sent immediately, so that delays
 * do not reduce the load.
 *
 * @throws the first error of a request, or an Error if answers took so long that no connection was
 * free for due requests.
 */
export async function sendAtRate(
  pool: ConnectionPool,
  ratePerSecond: number,
  span: Span,
  send: (connection: Connection, number: number) => Promise<void>,
): Promise<void> {
  const failed = Promise.withResolvers<never>();
  const beganMs = performance.now();
  let inProgress = 0;
  let sent = 0;
  let due = 0;
  while (span.isOpen()) {
    due = ((performance.now() - beganMs) * ratePerSecond) / 1_000;
    for (; sent < due; sent++) {
      const number = sent;
      const act = async (connection: Connection) => {
        await send(connection, number);
        inProgress--;
      };
      if (!pool.use(act, failed.reject)) break;
      inProgress++;
    }
    await Promise.race([failed.promise, wait(1)]);
  }
  if (sent < due * SENT_SHARE_MIN) {
    throw new Error(`only ${sent} of ${Math.round(due)} requests could be sent on time`);
  }
  while (inProgress > 0) await Promise.race([failed.promise, wait(1)]);
}
