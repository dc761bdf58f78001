import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readImports } from './file-imports.ts';

/** The database engines that the hub runs on. */
export const engines = ['sqlite', 'postgres'] as const;
export type TestEngine = (typeof engines)[number];

/** Files that read SIGNALBOX_TEST_ENGINE: whatever test imports one is a test of both engines. */
const engineDoors = new Set(['packages/hub/test/test-engine.ts', 'e2e/hub-database.ts']);

/** Of the test files, those that are run once for each engine. */
export function findEngineFiles(root: string, files: readonly string[]): ReadonlySet<string> {
  const reaching = new Map<string, boolean>();
  const reaches = (file: string): boolean => {
    const known = reaching.get(file);
    if (known !== undefined) return known;
    // Files that import each other, as far as the check of imports lets them, end here.
    reaching.set(file, false);
    const isReaching = engineDoors.has(file) || listOwnImports(root, file).some(reaches);
    reaching.set(file, isReaching);
    return isReaching;
  };
  return new Set(files.filter(reaches));
}

/** What a file of tests imports of the tests beside it. */
function listOwnImports(root: string, file: string): string[] {
  return readImports(file, readFileSync(join(root, file), 'utf8'))
    .filter(({ target, typeOnly }) => !typeOnly && target.startsWith('.'))
    .map(({ target }) => posix.join(posix.dirname(file), target))
    .filter((path) => /(^|\/)(test|e2e)\//.test(path) && existsSync(join(root, path)));
}
