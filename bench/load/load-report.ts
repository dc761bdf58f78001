import type { Latency } from '../statistics.ts';
import type { Mark } from './span.ts';

/** The measurements of a load. */
export interface LoadReport {
  /** Requests or complete cycles that ended during the measurement. */
  readonly count: number;
  readonly seconds: number;
  /** Processor time of the generator during the measurement. */
  readonly generatorCpuMs: number;
  /** By kind of request or delivery. */
  readonly latency: Readonly<Record<string, Latency | null>>;
  /** Other counts of the whole run. */
  readonly totals: Readonly<Record<string, number>>;
}

/** A message of the load process to its starter. */
export type LoadMessage =
  | { readonly kind: 'mark'; readonly mark: Mark }
  | { readonly kind: 'report'; readonly report: LoadReport }
  | { readonly kind: 'failure'; readonly message: string };
