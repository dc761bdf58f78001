/** A number of connections that may be open at a time; whoever comes later waits for a turn. */
export class ConnectionSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  /**
   * Does `work` when there is a free slot.
   * @throws the signal's reason when it aborts before there is one.
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
    // Who was woken and does not want it any more passes the turn on.
    if (signal.aborted) this.#waiting.shift()?.();
    signal.throwIfAborted();
    this.#free -= 1;
  }
}
