import type { SpanSpec } from '../load/span.ts';
import { type LoadResult, runLoadScript } from '../load-process.ts';
import type { PostgresPlace } from '../section.ts';

export interface PostgresPeerLoad extends SpanSpec {
  readonly connectionString: string;
  /** Connections to PostgreSQL; more had no benefit on two cores. */
  readonly poolSize: number;
  readonly inFlight: number;
  /** Jobs per call. */
  readonly batchSize: number;
  /** For graphile-worker: whether jobs are fetched and completed in batches. */
  readonly hasLocalQueue: boolean;
}

/** Measures complete cycles of a peer on a new database of the hub's PostgreSQL. */
export async function measurePostgresPeer(
  postgres: PostgresPlace,
  script: 'pg-boss-load.ts' | 'graphile-load.ts',
  load: Omit<PostgresPeerLoad, 'connectionString'>,
): Promise<LoadResult> {
  const connectionString = await postgres.createDatabase();
  try {
    const spec: PostgresPeerLoad = { ...load, connectionString };
    return await runLoadScript(`subjects/${script}`, spec, { postgres: postgres.pid });
  } finally {
    await postgres.dropDatabase(connectionString);
  }
}
