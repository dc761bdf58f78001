/** When a load measures: after the warm-up, for so long. */
export interface SpanSpec {
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** What is said at both ends of the measured time, so that others can look at their own meters. */
export type Mark = 'begin' | 'end';

/** The measured time of one load, and what the load's own process used of the processor in it. */
export class Span {
  readonly #beginMs: number;
  readonly #endMs: number;
  readonly #over: Promise<void>;
  #ownCpuMs = 0;

  constructor({ warmUpMs, measureMs }: SpanSpec, onMark: (mark: Mark) => void) {
    this.#beginMs = performance.now() + warmUpMs;
    this.#endMs = this.#beginMs + measureMs;
    const over = Promise.withResolvers<void>();
    this.#over = over.promise;
    setTimeout(() => {
      const before = process.cpuUsage();
      onMark('begin');
      setTimeout(() => {
        const used = process.cpuUsage(before);
        this.#ownCpuMs = (used.user + used.system) / 1_000;
        onMark('end');
        over.resolve();
      }, measureMs);
    }, warmUpMs);
  }

  /** Whether new work is still to be begun. */
  goesOn(): boolean {
    return performance.now() < this.#endMs;
  }

  /** Whether something that ended at this moment counts. */
  holds(nowMs: number): boolean {
    return nowMs >= this.#beginMs && nowMs < this.#endMs;
  }

  /** Resolves after the end with the processor time used in between. */
  async measureOwnCpuMs(): Promise<number> {
    await this.#over;
    return this.#ownCpuMs;
  }
}
