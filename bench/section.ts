import type { MeasureName, Options } from './options.ts';
import type { Place } from './place.ts';

/** The environment of all measures. */
export interface Bench {
  readonly options: Options;
  readonly place: Place;
  readonly redisVersion: string | null;
  readonly postgres: PostgresPlace | { readonly absentBecause: string };
  say(line: string): void;
}

/** A PostgreSQL with fsync on that runs for the whole bench. */
export interface PostgresPlace {
  readonly version: string;
  readonly pid: number;
  /** Creates a new empty database and returns its URL. */
  createDatabase(): Promise<string>;
  dropDatabase(url: string): Promise<void>;
  stop(): Promise<void>;
}

/** The result for one target. */
export interface Verdict {
  readonly measure: MeasureName;
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  /** Null: not measured. */
  readonly met: boolean | null;
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A measure's part of the report. */
export interface Section {
  readonly title: string;
  readonly table: Table;
  readonly notes: readonly string[];
  readonly verdicts: readonly Verdict[];
  /** Bars of the chart. */
  readonly bars: readonly Bar[];
  /** The raw data of every round, for latest.json. */
  readonly raw: unknown;
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly tone: 'hub' | 'peer' | 'limit';
}
