/** The times of a load: warm-up, then measurement. */
export interface SpanSpec {
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** Sent at the start and end of the measurement, so that other meters can be read. */
export type Mark = 'begin' | 'end';

/** The measurement of one load, with the processor time of the load's own process. */
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

  /** Whether new work may begin. */
  isOpen(): boolean {
    return performance.now() < this.#endMs;
  }

  /** Whether a moment is within the measurement. */
  holds(nowMs: number): boolean {
    return nowMs >= this.#beginMs && nowMs < this.#endMs;
  }

  /** Resolves after the end with the processor time used during the measurement. */
  async measureOwnCpuMs(): Promise<number> {
    await this.#over;
    return this.#ownCpuMs;
  }
}
