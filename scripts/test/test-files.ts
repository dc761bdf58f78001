import { listFiles } from '../check/source-files.ts';

/** The tests of the project by how they are run. */
export interface TestFiles {
  /** node:test, several at once. */
  readonly parallel: readonly string[];
  /** node:test, one after the other: whole systems under load, which would disturb each other. */
  readonly alone: readonly string[];
  /** Component tests of the console, for Vitest. */
  readonly console: readonly string[];
}

/** Lists the test files whose path contains one of `filters`; all files without filters. */
export function findTestFiles(root: string, filters: readonly string[]): TestFiles {
  const chosen = (folder: string, endings: string[]) =>
    listFiles(root, folder, endings).filter(
      (file) => filters.length === 0 || filters.some((filter) => file.includes(filter)),
    );
  const packages = chosen('packages', ['.test.ts', '.test.tsx']);
  const isConsole = (file: string) => file.startsWith('packages/console/');
  return {
    parallel: [
      ...packages.filter((file) => !isConsole(file)),
      ...chosen('scripts', ['.test.ts']),
      ...chosen('bench/test', ['.test.ts']),
    ],
    alone: chosen('e2e', ['.test.ts']),
    console: packages.filter(isConsole),
  };
}
