import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

export const projectRoot = join(import.meta.dirname, '..');

/** Limit of an error in a cell of a table. */
const ERROR_CHARS_MAX = 300;

/** Short, and without paths of this machine. */
export function describeError(error: unknown): string {
  const text = stripVTControlCharacters(error instanceof Error ? error.message : String(error));
  return text.replaceAll(projectRoot, '.').replace(/\s+/g, ' ').slice(0, ERROR_CHARS_MAX);
}
