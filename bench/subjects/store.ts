import type { Bench } from '../bench.ts';
import type { Meters } from '../load-process.ts';
import type { EngineName } from '../options.ts';

/** The location of a hub's data. */
export interface HubStore {
  readonly dataDir: string;
  /** Null: SQLite in the data directory. */
  readonly databaseUrl: string | null;
}

export const engines: readonly EngineName[] = ['sqlite', 'postgres'];

export function titleOf(engine: EngineName): string {
  return engine === 'sqlite' ? 'SQLite' : 'PostgreSQL';
}

/** Passes a new store to an action and removes it afterwards. */
export async function withStore<T>(
  { place, postgres }: Bench,
  engine: EngineName,
  act: (store: HubStore, meters: Meters) => Promise<T>,
): Promise<T> {
  const dataDir = place.make(engine);
  try {
    if (engine === 'sqlite') return await act({ dataDir, databaseUrl: null }, {});
    if (typeof postgres === 'string') throw new Error(`no PostgreSQL: ${postgres}`);
    const databaseUrl = await postgres.createDatabase();
    try {
      return await act({ dataDir, databaseUrl }, { postgres: postgres.pid });
    } finally {
      await postgres.dropDatabase(databaseUrl);
    }
  } finally {
    place.remove(dataDir);
  }
}
