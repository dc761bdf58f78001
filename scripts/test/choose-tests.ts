import { chooseAffected } from './affected-tests.ts';
import { readChanges } from './changed-files.ts';
import { readImportGraph } from './import-graph.ts';
import { findTestFiles } from './test-files.ts';
import type { TestOptions } from './test-options.ts';

/** The test files that the options name; says what `--changed` chose them by. */
export function chooseTests(
  root: string,
  { filters, changedSince }: TestOptions,
  say: (text: string) => void,
): string[] {
  const tests = findTestFiles(root, filters);
  if (changedSince === undefined) return tests;
  const { base, changed, files } = readChanges(root, changedSince);
  const graph = readImportGraph(root, [...files, ...changed]);
  const { tests: kept, everythingFor } = chooseAffected(graph, changed, tests);
  const since = `${changed.length} changed files since ${base.slice(0, 12)}`;
  if (everythingFor === undefined)
    say(`${since} touch ${kept.size} of ${tests.length} test files.`);
  else say(`${since}. ${everythingFor} may affect any test, so all run.`);
  return tests.filter((file) => kept.has(file));
}
