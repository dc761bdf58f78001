import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * The import of a place: a module that starts what several test files use, such as a hub, and ends
 * it with their process.
 */
const placeImport = /from '(\.[^']*-place\.ts)';/;

const places = new Set(['e2e/page-place.ts']);

/** The place that a test file imports; its process loads it first. */
export function findPlace(root: string, file: string): string | undefined {
  const [, target = ''] = placeImport.exec(readFileSync(join(root, file), 'utf8')) ?? [];
  const place = posix.join(posix.dirname(file), target);
  return places.has(place) ? place : undefined;
}
