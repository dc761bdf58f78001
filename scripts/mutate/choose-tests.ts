import { execFileSync } from 'node:child_process';
import { chooseAffected } from '../test/affected-tests.ts';
import { readImportGraph } from '../test/import-graph.ts';
import { findTestFiles } from '../test/test-files.ts';

/**
 * The tests of the hub that a change in each file runs, as `npm test -- --changed` chooses them; of
 * these the ones whose paths contain `part`.
 */
export function chooseTestsOf(
  root: string,
  files: readonly string[],
  part: string,
): ReadonlyMap<string, readonly string[]> {
  const known = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  const graph = readImportGraph(root, known.split('\0'));
  const tests = findTestFiles(root, ['packages/hub/test/']).computing.filter(
    (test) => !test.endsWith('-postgres.test.ts') && test.includes(part),
  );
  return new Map(files.map((file) => [file, [...chooseAffected(graph, [file], tests).tests]]));
}

/** Learns which test files find faults soonest. */
export class TestOrder {
  readonly #durationsMs: Readonly<Record<string, number>>;
  readonly #kills = new Map<string, number>();
  readonly #runs = new Map<string, number>();

  constructor(durationsMs: Readonly<Record<string, number>>) {
    this.#durationsMs = durationsMs;
  }

  noteRun(test: string, source: string, hasKilled: boolean): void {
    for (const key of [test, `${test} ${source}`]) {
      this.#runs.set(key, (this.#runs.get(key) ?? 0) + 1);
      if (hasKilled) this.#kills.set(key, (this.#kills.get(key) ?? 0) + 1);
    }
  }

  /** The tests by the faults in `source` that they should find per second, the best first. */
  sort(tests: readonly string[], source: string): string[] {
    return tests
      .map((test) => ({ test, value: this.#valueOf(test, source) }))
      .sort((a, b) => b.value - a.value)
      .map(({ test }) => test);
  }

  #valueOf(test: string, source: string): number {
    const module = source.split('/').at(-2);
    const isOwn = test.split('/').at(-2) === module;
    const rate = (key: string, prior: number) =>
      ((this.#kills.get(key) ?? 0) + prior) / ((this.#runs.get(key) ?? 0) + 1);
    const general = rate(test, isOwn ? 0.4 : 0.1);
    return rate(`${test} ${source}`, general) / (this.#durationsMs[test] ?? 1_000);
  }
}
