import type { EngineName } from './engine.ts';

/**
 * The condition that a column of long texts equals a value, with one `?` for it. On PostgreSQL,
 * such columns are indexed by SHA-256, and equal hashes mean equal texts.
 */
export function matchText(engine: EngineName, column: string): string {
  return engine === 'sqlite' ? `${column} = ?` : `text_hash(${column}) = text_hash(?)`;
}
