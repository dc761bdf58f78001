import type { EngineName } from '../engine.ts';
import { schema } from './0041-schema.ts';

export interface Migration {
  /** Increases; a database with a higher version than any here is of a newer Signalbox. */
  version: number;
  name: string;
  statements: (engine: EngineName) => string[];
}

/** In order. A migration that was released is never changed. */
export const migrations: readonly Migration[] = [
  { version: 41, name: 'schema', statements: schema },
];
