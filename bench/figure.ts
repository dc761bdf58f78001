// The common shape of all measures: a measure takes loads in turn and returns figures.
import type { LoadResult } from './load-process.ts';
import type { MeasureName } from './options.ts';

const units = {
  '×': (value: number) => `${value.toFixed(2)}×`,
  ms: (value: number) => `${value.toFixed(value < 100 ? 1 : 0)} ms`,
  µs: (value: number) => `${Math.round(value)} µs`,
  MB: (value: number) => `${Math.round(value)} MB`,
  KB: (value: number) => `${value.toFixed(1)} KB`,
  cores: (value: number) => `${value.toFixed(2)} cores`,
  '': formatCount,
};

export type Unit = keyof typeof units;

/** One row of the report. */
export interface Figure {
  readonly measure: MeasureName;
  readonly what: string;
  readonly unit: Unit;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** One for each round; or a sentence that says why the figure is missing. */
  readonly values: readonly number[] | string;
}

export function formatValue(value: number, unit: Unit): string {
  return units[unit](value);
}

/** 12,345 */
export function formatCount(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });
}

/** The result of a contestant. After a failure it has no figure, not even of earlier rounds. */
export interface Standing {
  readonly rounds: readonly LoadResult[];
  readonly failure: string | null;
}

type Pick = (result: LoadResult) => number | null | undefined;

/** A value of each round of a contestant. */
export function valuesOf({ rounds, failure }: Standing, pick: Pick): Figure['values'] {
  if (failure !== null) return failure;
  const values = rounds.map(pick);
  if (values.some((value) => value === null || value === undefined || Number.isNaN(value))) {
    return 'not measured on this system';
  }
  return values.filter((value) => typeof value === 'number');
}

/** A value of one contestant ÷ that of another one, round by round. */
export function ratiosOf(
  [one, other]: readonly [Standing, Standing],
  pick: Pick,
): Figure['values'] {
  const [values, divisors] = [valuesOf(one, pick), valuesOf(other, pick)];
  if (typeof values === 'string') return values;
  if (typeof divisors === 'string') return divisors;
  return values.map((value, round) => value / (divisors[round] ?? Number.NaN));
}

export const perSecond: Pick = (result) => result.perSecond;

/** The processor time of a cycle or call, in µs, of all processes but the generator. */
export const cost: Pick = (result) => {
  const { generator: _own, ...cores } = result.cores;
  const used = Object.values(cores).map((each) => each ?? Number.NaN);
  return (used.reduce((sum, each) => sum + each, 0) * 1_000_000) / result.perSecond;
};

export const p99Of =
  (name: string): Pick =>
  ({ latency }) =>
    latency[name]?.p99Ms;

export const p50Of =
  (name: string): Pick =>
  ({ latency }) =>
    latency[name]?.p50Ms;
