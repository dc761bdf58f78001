import { listFiles } from '../check/source-files.ts';

/** The tests of the project by how they are run. */
export interface TestFiles {
  /** node:test, inside their process: they need a processor all the time. */
  readonly computing: readonly string[];
  /** node:test, with processes of their own (browsers, commands, hubs), for which they wait. */
  readonly waiting: readonly string[];
  /** Component tests of the console, for Vitest. */
  readonly console: readonly string[];
}

/** Folders whose tests start processes. */
const startsProcesses =
  /^(e2e|bench|packages\/(agent|cli|local-postgres)|scripts\/(build|demo|test))\//;

/** Lists the test files whose path contains one of `filters`; all files without filters. */
export function findTestFiles(root: string, filters: readonly string[]): TestFiles {
  const chosen = (folder: string, endings: string[]) =>
    listFiles(root, folder, endings).filter(
      (file) => filters.length === 0 || filters.some((filter) => file.includes(filter)),
    );
  const packages = chosen('packages', ['.test.ts', '.test.tsx']);
  const console = packages.filter((file) => file.startsWith('packages/console/'));
  const others = [
    // First, because they are the longest.
    ...chosen('e2e', ['.test.ts']),
    // Some of them wait for a minute: at the end of a run, nothing else would run meanwhile.
    ...chosen('scripts', ['.test.ts']),
    ...packages.filter((file) => !console.includes(file)),
    ...chosen('bench/test', ['.test.ts']),
  ];
  return {
    computing: others.filter((file) => !startsProcesses.test(file)),
    waiting: others.filter((file) => startsProcesses.test(file)),
    console,
  };
}
