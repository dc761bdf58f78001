import { execFileSync } from 'node:child_process';
import { chooseAffected } from '../test/affected-tests.ts';
import { findEngineFiles, type TestEngine } from '../test/engines.ts';
import { readImportGraph } from '../test/import-graph.ts';
import { findTestFiles } from '../test/test-files.ts';

/** How much longer than without a fault a test file may take, on a busy machine. */
const slowdownMax = 8;
const limitMsMin = 60_000;

/** The engine that the tests of a source file run on: SQLite, unless the file is PostgreSQL's. */
export function engineOf(source: string): TestEngine {
  return source.includes('postgres') ? 'postgres' : 'sqlite';
}

/** Under this key a test file's duration on an engine is kept. */
export function durationKey(test: string, engine: TestEngine): string {
  return `${engine} ${test}`;
}

/**
 * The tests of the hub that a change in each file runs, as `npm test -- --changed` chooses them,
 * and on PostgreSQL of these the ones that use the database.
 *
 * @param options `part` of the paths of the tests; `isNear` leaves out the tests of the modules
 *   that import the file.
 */
export function chooseTestsOf(
  root: string,
  files: readonly string[],
  { part, isNear }: { part: string; isNear: boolean },
): ReadonlyMap<string, readonly string[]> {
  const known = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  const graph = readImportGraph(root, known.split('\0'));
  const tests = findTestFiles(root, ['packages/hub/test/']).computing.filter((test) =>
    test.includes(part),
  );
  const onEngines = findEngineFiles(root, tests);
  const runsOn = (test: string, engine: TestEngine) =>
    onEngines.get(test)?.includes(engine) ?? engine === 'sqlite';
  return new Map(
    files.map((file) => {
      const engine = engineOf(file);
      const { tests: affected } = chooseAffected(graph, [file], tests, { isNear });
      return [file, [...affected].filter((test) => runsOn(test, engine))];
    }),
  );
}

/** Learns which test files find faults soonest. */
export class TestOrder {
  readonly #durationsMs: Readonly<Record<string, number>>;
  readonly #kills = new Map<string, number>();
  readonly #runs = new Map<string, number>();

  /** @param durationsMs By `durationKey`. Test files without one are not run. */
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
      .flatMap((test) => {
        const durationMs = this.#durationsMs[durationKey(test, engineOf(source))];
        if (durationMs === undefined) return [];
        return { test, value: this.#rateOf(test, source) / durationMs };
      })
      .sort((a, b) => b.value - a.value)
      .map(({ test }) => test);
  }

  /** How long a test file may take with a fault: one that hangs has found it. */
  limitMs(test: string, engine: TestEngine): number {
    const durationMs = this.#durationsMs[durationKey(test, engine)] ?? 0;
    return Math.max(limitMsMin, slowdownMax * durationMs);
  }

  #rateOf(test: string, source: string): number {
    const module = source.split('/').at(-2);
    const isOwn = test.split('/').at(-2) === module;
    const rate = (key: string, prior: number) =>
      ((this.#kills.get(key) ?? 0) + prior) / ((this.#runs.get(key) ?? 0) + 1);
    return rate(`${test} ${source}`, rate(test, isOwn ? 0.4 : 0.1));
  }
}
