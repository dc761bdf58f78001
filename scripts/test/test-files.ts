import { listFiles } from '../check/source-files.ts';

/**
 * How a test file is run. `console`: by Vitest, as it draws components. `computing`: in its own
 * process, for which it needs a processor all the time. `waiting`: with processes of its own
 * (browsers, commands, hubs), for which it waits.
 */
export type TestKind = 'computing' | 'waiting' | 'console';

/** The longest first: at the end of a run, nothing else would run meanwhile. */
const folders = ['e2e/tools', 'e2e', 'packages', 'scripts', 'bench/test'];

/** Folders whose tests start processes. */
const startsProcesses =
  /^(e2e|bench|packages\/(agent|cli|local-postgres)|scripts\/(build|demo|test))\//;

export function kindOf(file: string): TestKind {
  if (file.startsWith('packages/console/')) return 'console';
  return startsProcesses.test(file) ? 'waiting' : 'computing';
}

/** Lists the test files whose path contains one of `filters`; all files without filters. */
export function findTestFiles(root: string, filters: readonly string[]): string[] {
  const files = folders.flatMap((folder) => listFiles(root, folder, ['.test.ts', '.test.tsx']));
  return [...new Set(files)].filter(
    (file) => filters.length === 0 || filters.some((filter) => file.includes(filter)),
  );
}
