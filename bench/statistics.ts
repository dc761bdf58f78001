/** A figure over several rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The middle value; the mean of the two middle ones of an even number. @throws on none. */
export function findMedian(values: readonly number[]): number {
  return percentileOf(sortNumbers(values), 50);
}

/** @throws on no values. */
export function findSpread(values: readonly number[]): Spread {
  const sorted = sortNumbers(values);
  return { median: percentileOf(sorted, 50), min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

/** How long things took, in milliseconds. */
export interface Latency {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Null of none. */
export function summarizeLatency(valuesMs: readonly number[]): Latency | null {
  if (valuesMs.length === 0) return null;
  const sorted = sortNumbers(valuesMs);
  return {
    count: sorted.length,
    p50Ms: percentileOf(sorted, 50),
    p99Ms: percentileOf(sorted, 99),
    maxMs: sorted.at(-1) ?? 0,
  };
}

/** By linear interpolation between the two nearest ranks. */
function percentileOf(sorted: readonly number[], percent: number): number {
  if (sorted.length === 0) throw new Error('there is no percentile of no values');
  const rank = ((sorted.length - 1) * percent) / 100;
  const lower = sorted[Math.floor(rank)] ?? 0;
  const upper = sorted[Math.ceil(rank)] ?? lower;
  return lower + (upper - lower) * (rank - Math.floor(rank));
}

function sortNumbers(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}
