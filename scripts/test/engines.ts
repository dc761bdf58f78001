import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readImports } from '../check/file-imports.ts';

/** The database engines that the hub runs on. */
export const engines = ['sqlite', 'postgres'] as const;
export type TestEngine = (typeof engines)[number];

/** Files that read SIGNALBOX_TEST_ENGINE: a test that imports one is a test of both engines. */
const engineDoors = new Set(['packages/hub/test/support/test-engine.ts', 'e2e/hub-database.ts']);

/** Ends of names of files that say something about one engine, such as how it finds rows. */
const engineEnding = /-(sqlite|postgres)\.test\.ts$/;

/** The test files that depend on the engine, each with those that it is to be run on. */
export function findEngineFiles(
  root: string,
  files: readonly string[],
): ReadonlyMap<string, readonly TestEngine[]> {
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
  const enginesOf = (file: string) => {
    const [, only] = engineEnding.exec(file) ?? [];
    return engines.filter((engine) => only === undefined || engine === only);
  };
  return new Map(files.filter(reaches).map((file) => [file, enginesOf(file)]));
}

/** Says which engines the tests ran on, and how to run those that were left out. */
export function describeEngines(
  onEngines: ReadonlyMap<string, readonly TestEngine[]>,
  chosen: readonly TestEngine[],
): string {
  const left = engines.filter((engine) => !chosen.includes(engine));
  const leftFiles = [...onEngines.values()].filter((all) =>
    all.some((each) => left.includes(each)),
  );
  if (onEngines.size === 0) return '';
  const ran = `Tests of the hub's database ran on ${chosen.join(' and ')}`;
  if (leftFiles.length === 0) return `${ran}.`;
  return `${ran}; ${leftFiles.length} files have more for ${left.join(' and ')}: add --engine both.`;
}

/** The imports of a test file that lie in a folder of tests. */
function listOwnImports(root: string, file: string): string[] {
  return readImports(file, readFileSync(join(root, file), 'utf8'))
    .filter(({ target, typeOnly }) => !typeOnly && target.startsWith('.'))
    .map(({ target }) => posix.join(posix.dirname(file), target))
    .filter((path) => /(^|\/)(test|e2e)\//.test(path) && existsSync(join(root, path)));
}
