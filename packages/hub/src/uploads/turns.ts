import { HubError } from '../base/errors.ts';

/** Requests that wait for their turn at one upload: more than a client that retries has open. */
const WAITING_MAX = 10;

/** Runs the work for each key one after the other, in the order of arrival. */
export class Turns {
  readonly #lines = new Map<string, { count: number; last: Promise<unknown> }>();

  /** @throws HubError RATE_LIMITED, and what the work throws. */
  async inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { count: 0, last: Promise.resolve() };
    if (line.count > WAITING_MAX) {
      throw new HubError('RATE_LIMITED', 'Other requests are sending the bytes of this upload.');
    }
    line.count += 1;
    this.#lines.set(key, line);
    const before = line.last;
    // Errors of earlier work are for its own caller.
    const own = before.then(work, work);
    line.last = own;
    try {
      return await own;
    } finally {
      line.count -= 1;
      if (line.count === 0) this.#lines.delete(key);
    }
  }
}
