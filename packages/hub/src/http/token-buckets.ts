/**
 * An idle caller may send at once as much as its rate allows in this time. After a pause of this
 * length a bucket of any rate is full again.
 */
const BURST_MS = 2_000;
const MS_PER_SECOND = 1_000;
/** Times since 1970 are exact to a quarter of a microsecond; sums of a burst are off by less. */
const ROUNDING_MS = 0.1;

/** A payment of one request. */
export interface Payment {
  /** The bucket. */
  key: string;
  /** The bucket's rate; 0: no limit. */
  unitsPerSecond: number;
  units: number;
}

/**
 * Token buckets by key. A bucket is one number: the time at which it will be full again (the
 * "generic cell rate algorithm"). It holds no timer. Full buckets need not be remembered: two maps
 * take turns, and the older one is dropped when all that is in it must be full.
 */
export class TokenBuckets {
  #fullAtMs = new Map<string, number>();
  #olderFullAtMs = new Map<string, number>();
  #turnedAtMs = 0;

  /** The number of buckets in memory. */
  get size(): number {
    return this.#fullAtMs.size + this.#olderFullAtMs.size;
  }

  /**
   * Pays from all buckets, or from none if one of them has too little left. A payment of more than
   * a whole bucket counts as a whole bucket.
   *
   * @returns how long to wait before paying again; 0: paid.
   */
  pay(nowMs: number, payments: readonly Payment[]): number {
    this.#forgetFull(nowMs);
    let waitMs = 0;
    for (const payment of payments) {
      waitMs = Math.max(waitMs, this.#missingMs(nowMs, payment.key) + costMsOf(payment) - BURST_MS);
    }
    if (waitMs > ROUNDING_MS) return waitMs;
    for (const payment of payments) {
      const costMs = costMsOf(payment);
      if (costMs === 0) continue;
      this.#fullAtMs.set(payment.key, nowMs + this.#missingMs(nowMs, payment.key) + costMs);
    }
    return 0;
  }

  /** How much a bucket lacks, as the time in which it fills. */
  #missingMs(nowMs: number, key: string): number {
    const fullAtMs = this.#fullAtMs.get(key) ?? this.#olderFullAtMs.get(key) ?? 0;
    const missingMs = fullAtMs - nowMs;
    // More than a whole bucket can only mean that the clock was set back.
    return missingMs > 0 && missingMs <= BURST_MS + ROUNDING_MS ? missingMs : 0;
  }

  #forgetFull(nowMs: number): void {
    const ageMs = nowMs - this.#turnedAtMs;
    if (ageMs >= 0 && ageMs <= BURST_MS) return;
    this.#olderFullAtMs = this.#fullAtMs;
    this.#fullAtMs = new Map();
    this.#turnedAtMs = nowMs;
  }
}

function costMsOf({ units, unitsPerSecond }: Payment): number {
  if (unitsPerSecond <= 0) return 0;
  return Math.min((units / unitsPerSecond) * MS_PER_SECOND, BURST_MS);
}
