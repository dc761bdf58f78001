import type { EngineName } from '../engine.ts';

/** Where a hub runs, so that an operator can tell the hubs of a database apart. */
export function hubNames(engine: EngineName): string[] {
  if (engine === 'sqlite') return [];
  return ['host', 'address', 'version'].map(
    (column) => `ALTER TABLE hubs ADD COLUMN ${column} TEXT NOT NULL DEFAULT ''`,
  );
}
