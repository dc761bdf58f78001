/** Limits how many connections are open at a time. Further callers wait in order. */
export class ConnectionSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  /**
   * Runs `work` when a slot is free.
   * @throws the signal's reason when it aborts before a slot is free.
   */
  async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#free += 1;
      this.#waiting.shift()?.();
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    while (this.#free === 0) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const turn = () => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        const leave = () => {
          this.#waiting.splice(this.#waiting.indexOf(turn), 1);
          resolve();
        };
        this.#waiting.push(turn);
        signal.addEventListener('abort', leave, { once: true });
      });
    }
    // An aborted caller that was already woken passes its turn to the next one.
    if (signal.aborted) this.#waiting.shift()?.();
    signal.throwIfAborted();
    this.#free -= 1;
  }
}
