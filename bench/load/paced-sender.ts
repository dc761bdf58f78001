import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { Span } from './span.ts';

/** Connections that are used by turns; whoever sends takes one that is idle. */
export class ConnectionPool {
  readonly #idle: Connection[];

  constructor(connections: readonly Connection[]) {
    this.#idle = [...connections];
  }

  /** Runs an action on an idle connection; false when there is none. */
  use(act: (connection: Connection) => Promise<void>, onFailure: (error: unknown) => void) {
    const connection = this.#idle.pop();
    if (connection === undefined) return false;
    act(connection).then(() => this.#idle.push(connection), onFailure);
    return true;
  }

  get idleCount(): number {
    return this.#idle.length;
  }
}

/**
 * Sends by the clock until the time is over: what is late is sent at once, so that no delay thins
 * the load out.
 *
 * @throws what the first failed sending throws.
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
  for (let sent = 0; span.goesOn(); ) {
    const due = ((performance.now() - beganMs) * ratePerSecond) / 1_000;
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
  while (underWay > 0) await Promise.race([failed.promise, wait(1)]);
}
