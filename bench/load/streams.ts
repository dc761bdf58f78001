import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { Span } from './span.ts';

/** Calls at a steady rate; `number` counts them, and each is due at its time. */
export interface Stream {
  readonly perSecond: number;
  readonly send: (dueMs: number, number: number) => Promise<void>;
}

/** Time limit for the answers that are missing at the end. */
const DRAIN_MS_MAX = 60_000;

/**
 * Sends what is due until the time is over, then waits for the answers that are missing. Late calls
 * are sent immediately, so that delays do not reduce the load.
 *
 * @returns the share of all calls that was answered by the end of the time.
 * @throws the first error of a call, or an Error if answers are missing for too long.
 */
export async function sendStreams(
  streams: readonly Stream[],
  span: Pick<Span, 'isOpen'>,
): Promise<number> {
  const failed = Promise.withResolvers<never>();
  const beganMs = performance.now();
  const open = new Set<Promise<unknown>>();
  const sent = streams.map(() => 0);
  while (span.isOpen()) {
    for (const [at, { perSecond, send }] of streams.entries()) {
      const due = ((performance.now() - beganMs) * perSecond) / 1_000;
      for (let number = sent[at] ?? 0; number < due; number++) {
        const call: Promise<unknown> = send(beganMs + (number * 1_000) / perSecond, number)
          .catch(failed.reject)
          .finally(() => open.delete(call));
        open.add(call);
        sent[at] = number + 1;
      }
    }
    await Promise.race([failed.promise, wait(1)]);
  }
  const all = sent.reduce((sum, each) => sum + each, 0);
  const share = 1 - open.size / all;
  const limit = AbortSignal.timeout(DRAIN_MS_MAX);
  while (open.size > 0) {
    limit.throwIfAborted();
    await Promise.race([failed.promise, wait(5)]);
  }
  return share;
}

/** Sends each call on the next of the connections, after those that this one is busy with. */
export function takeTurns(
  connections: readonly Connection[],
  send: (connection: Connection, number: number) => Promise<void>,
): Stream['send'] {
  const last = connections.map(() => Promise.resolve());
  return (_dueMs, number) => {
    const at = number % connections.length;
    const sent = (last[at] ?? Promise.resolve()).then(async () => {
      const connection = connections[at];
      if (connection !== undefined) await send(connection, number);
    });
    last[at] = sent;
    return sent;
  };
}
