import { BoundedMap } from './bounded-map.ts';
import type { Clock } from './clock.ts';

/** A read in progress. */
interface Lookup<Row> {
  row: Promise<Row | undefined>;
  readAtMs: number;
}

/**
 * Keeps rows for a moment after they were read, so that a busy caller costs one query in that time.
 * A row that was not found is not kept: it would displace known ones, and hide one that is added a
 * moment later.
 */
export class RecentReads<Row> {
  readonly #clock: Clock;
  readonly #ageMaxMs: number;
  readonly #countMax: number;
  #known: BoundedMap<string, { row: Row; readAtMs: number }>;
  readonly #lookups = new Map<string, Lookup<Row>>();

  /** @param countMax beyond that the oldest are dropped. */
  constructor(clock: Clock, { ageMaxMs, countMax }: { ageMaxMs: number; countMax: number }) {
    this.#clock = clock;
    this.#ageMaxMs = ageMaxMs;
    this.#countMax = countMax;
    this.#known = new BoundedMap(countMax);
  }

  /** A row that was read recently; undefined otherwise. */
  peek(key: string): Row | undefined {
    const known = this.#known.get(key);
    return known !== undefined && this.#isFresh(known) ? known.row : undefined;
  }

  /** Returns the recent row, or reads it. Concurrent reads of a key share one query. */
  async find(key: string, read: () => Promise<Row | undefined>): Promise<Row | undefined> {
    const known = this.peek(key);
    if (known !== undefined) return known;
    const running = this.#lookups.get(key);
    if (running !== undefined && this.#isFresh(running)) return running.row;
    const lookup = { row: read(), readAtMs: this.#clock.nowMs() };
    this.#lookups.set(key, lookup);
    try {
      const row = await lookup.row;
      const isCurrent = this.#lookups.get(key) === lookup;
      if (row !== undefined && isCurrent) this.#known.set(key, { row, readAtMs: lookup.readAtMs });
      return row;
    } finally {
      if (this.#lookups.get(key) === lookup) this.#lookups.delete(key);
    }
  }

  /**
   * Forgets all rows. Reads in progress may have seen the old state: no later caller joins them,
   * and their results are not kept.
   */
  clear(): void {
    this.#known = new BoundedMap(this.#countMax);
    this.#lookups.clear();
  }

  #isFresh({ readAtMs }: { readAtMs: number }): boolean {
    const ageMs = this.#clock.nowMs() - readAtMs;
    // After the clock was set back, ages are negative and mean nothing.
    return ageMs >= 0 && ageMs < this.#ageMaxMs;
  }
}
