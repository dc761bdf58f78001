import type { Latency } from '../statistics.ts';
import type { Mark } from './span.ts';

/** What a load saw. */
export interface LoadReport {
  /** Requests, or whole cycles, that ended within the measured time. */
  readonly count: number;
  readonly seconds: number;
  /** Processor time of the generator within the measured time. */
  readonly generatorCpuMs: number;
  /** By what was waited for. */
  readonly latency: Readonly<Record<string, Latency | null>>;
  /** Whatever else was counted, over the whole run. */
  readonly totals: Readonly<Record<string, number>>;
}

/** What the load's process says to the one that started it. */
export type LoadMessage =
  | { readonly kind: 'mark'; readonly mark: Mark }
  | { readonly kind: 'report'; readonly report: LoadReport }
  | { readonly kind: 'failure'; readonly message: string };

/** An agent of a load, with the token that it proves itself with. */
export interface LoadAgent {
  readonly agentId: string;
  readonly token: string;
}
