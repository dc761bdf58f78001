import type { Meters } from '../load-process.ts';
import type { Bench } from '../section.ts';
import type { HubStore } from './hub.ts';

export type EngineName = 'sqlite' | 'postgres';

export const engineTitles: Readonly<Record<EngineName, string>> = {
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
};

/** The reason why an engine cannot be measured here; null if it can. */
export function findAbsence({ postgres }: Bench, engine: EngineName): string | null {
  return engine === 'postgres' && 'absentBecause' in postgres ? postgres.absentBecause : null;
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
    if ('absentBecause' in postgres) throw new Error(postgres.absentBecause);
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
