/** The waiting work of one subject, such as a workspace; each entry starts its work. */
type Line = (() => void)[];

/**
 * Runs one piece of work at a time, or a few. Subjects have their turns one after the other, so
 * that a subject with much work waiting delays the others by one piece only. The pieces of a
 * subject run in the order of their arrival.
 */
export class FairTurns {
  /** In the order of their turns. A subject without waiting work is not in the map. */
  readonly #lines = new Map<string, Line>();
  readonly #placesMax: number;
  #busy = 0;

  /** @param placesMax pieces of work that run at the same time. */
  constructor(placesMax = 1) {
    this.#placesMax = placesMax;
  }

  /** @throws what the work throws. */
  async run<T>(subject: string, work: () => Promise<T>): Promise<T> {
    if (this.#busy < this.#placesMax) this.#busy += 1;
    else await this.#wait(subject);
    try {
      return await work();
    } finally {
      this.#startNext();
    }
  }

  #wait(subject: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const line = this.#lines.get(subject);
    if (line === undefined) this.#lines.set(subject, [resolve]);
    else line.push(resolve);
    return promise;
  }

  /** Passes the place on. It stays taken until the next work runs, so no other gets between. */
  #startNext(): void {
    const first = this.#lines.entries().next().value;
    if (first === undefined) {
      this.#busy -= 1;
      return;
    }
    const [subject, line] = first;
    const start = line.shift();
    this.#lines.delete(subject);
    // At the end of the order: the other subjects are next.
    if (line.length > 0) this.#lines.set(subject, line);
    start?.();
  }
}
