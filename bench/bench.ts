import type { Options } from './options.ts';
import type { Place } from './place.ts';
import type { PostgresPlace } from './subjects/postgres.ts';

/** The environment of all measures. */
export interface Bench {
  readonly options: Options;
  readonly place: Place;
  /** A sentence says why PostgreSQL is missing. */
  readonly postgres: PostgresPlace | string;
  readonly say: (line: string) => void;
}
