import type { SpanSpec } from '../load/span.ts';
import { type LoadResult, runLoadScript } from '../load-process.ts';
import type { PostgresPlace } from '../section.ts';

export interface PostgresPeerLoad extends SpanSpec {
  readonly connectionString: string;
  /** Connections to PostgreSQL; more than this gained nothing on two cores. */
  readonly poolSize: number;
  readonly inFlight: number;
  /** Jobs of one call. */
  readonly batchSize: number;
  /** Of graphile-worker: jobs are fetched and completed in groups. */
  readonly hasLocalQueue: boolean;
}

/** Whole cycles of a peer on a fresh database of the hub's own PostgreSQL. */
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
