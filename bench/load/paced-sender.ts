import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { Span } from './span.ts';

/** What is missing at the end of a load is late, not only the last few. */
const SENT_SHARE_MIN = 0.98;

/** Connections that are used by turns; whoever sends takes one that is idle. */
export class ConnectionPool {
  readonly #idle: Connection[];

  constructor(connections: readonly Connection[]) {
    this.#idle = [...connections];
  }

  /** Runs an action on an idle connection; false when there is none. */
  use(act: (connection: Connection) => Promise<void>, onFailure: (error: unknown) => void) {
    // The one that has been idle longest: a server closes those that never say anything.
    const connection = this.#idle.shift();
    if (connection === undefined) return false;
    act(connection).then(() => this.#idle.push(connection), onFailure);
    return true;
  }
}

/**
 * Sends by the clock until the time is over: what is late is sent at once, so that no delay thins
 * the load out.
 *
 * @throws what the first failed sending throws, and when answers took so long that no connection
 * was left to send what was due.
 */
export async function sendAtRate(
  pool: ConnectionPool,
  ratePerSecond: number,
  span: Span,
  send: (connection: Connection, number: number) => Promise<void>,
): Promise<void> {
  const failed = Promise.withResolvers<never>();
  const beganMs = performance.now();
  let underWay = 0;
  let sent = 0;
  let due = 0;
  while (span.goesOn()) {
    due = ((performance.now() - beganMs) * ratePerSecond) / 1_000;
    for (; sent < due; sent++) {
      const number = sent;
      const act = async (connection: Connection) => {
        await send(connection, number);
        underWay--;
      };
      if (!pool.use(act, failed.reject)) break;
      underWay++;
    }
    await Promise.race([failed.promise, wait(1)]);
  }
  if (sent < due * SENT_SHARE_MIN) {
    throw new Error(`only ${sent} of ${Math.round(due)} requests could be sent at their time`);
  }
  while (underWay > 0) await Promise.race([failed.promise, wait(1)]);
}
