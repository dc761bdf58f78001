/** Durations in milliseconds. */
export interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Null if there are no values. */
export function summarizeLatency(valuesMs: readonly number[]): Latency | null {
  if (valuesMs.length === 0) return null;
  const sorted = sortNumbers(valuesMs);
  return { p50Ms: percentileOf(sorted, 50), p99Ms: percentileOf(sorted, 99) };
}

/** The middle value, or the mean of the two middle ones. @throws if there are no values. */
export function findMedian(values: readonly number[]): number {
  return percentileOf(sortNumbers(values), 50);
}

/** Interpolates linearly between the two nearest ranks. */
function percentileOf(sorted: readonly number[], percent: number): number {
  if (sorted.length === 0) throw new Error('a percentile requires at least one value');
  const rank = ((sorted.length - 1) * percent) / 100;
  const lower = sorted[Math.floor(rank)] ?? 0;
  const upper = sorted[Math.ceil(rank)] ?? lower;
  return lower + (upper - lower) * (rank - Math.floor(rank));
}

function sortNumbers(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}
