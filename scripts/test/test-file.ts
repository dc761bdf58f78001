import { join } from 'node:path';
import type { TestEngine } from './engines.ts';
import { endOf, spawnGroup } from './process-group.ts';
import type { TestEvent, TestOutcome } from './test-event.ts';

/** One test that ended. */
export interface TestResult {
  readonly name: string;
  readonly outcome: TestOutcome;
  /** The reason of a skip, the error of a failure, empty for a pass. */
  readonly detail: string;
}

/** The results of one file, or of one suite of another runner. */
export interface FileReport {
  readonly file: string;
  /** Of the database, for a file that is run on each. */
  readonly engine?: TestEngine;
  readonly results: readonly TestResult[];
  readonly durationMs: number;
  /** The end of what the file printed, for when it failed. */
  readonly output: string;
}

/** Where Node keeps compiled modules: without it, each test file compiles the whole hub again. */
const compileCache = (root: string) => join(root, 'node_modules/.cache/compile');

/** A file whose failures are its own fault: no test of it can be blamed. */
const fileItself = '(the file)';
/**
 * Runs one file of node:test in its own process and process group.
 *
 * A file that hangs past `limitMs` is ended together with everything it started. A file that ends
 * early, exits with an error beside its tests, or holds no test has a failure of its own.
 */
export async function runTestFile(
  root: string,
  file: string,
  limitMs: number,
  engine?: TestEngine,
): Promise<FileReport> {
  const startMs = performance.now();
  const reporter = join(import.meta.dirname, 'test-reporter.ts');
  const child = spawnGroup(
    ['--enable-source-maps', `--test-reporter=${reporter}`, join(root, file)],
    root,
    ['ignore', 'pipe', 'pipe', 'ipc'],
    { NODE_COMPILE_CACHE: compileCache(root), ...testEnvironment(engine) },
  );
  const log = new FileLog();
  child.on('message', (message) => log.hear(message as TestEvent));
  const { exit, output, isLate, hadLeftovers } = await endOf(child, limitMs);
  if (isLate) log.fail(`ended after ${limitMs / 1_000} s without a result; ${log.whereItHangs()}`);
  else if (log.countFailed() === 0) log.judgeExit(exit);
  if (hadLeftovers) log.notes.push('left processes running; they were ended');
  return {
    file,
    ...(engine === undefined ? {} : { engine }),
    results: log.results,
    durationMs: performance.now() - startMs,
    output: [...log.notes, output].join('\n').trim(),
  };
}

/** The state of a running file. */
class FileLog {
  readonly results: TestResult[] = [];
  readonly notes: string[] = [];
  readonly #open: string[] = [];
  #isFinished = false;

  hear(event: TestEvent): void {
    if (event.kind === 'finished') this.#isFinished = true;
    else if (event.kind === 'result') this.results.push(event);
    else if (event.kind === 'started') this.#open.push(event.name);
    else this.#open.splice(this.#open.lastIndexOf(event.name), 1);
  }

  fail(detail: string): void {
    this.results.push({ name: fileItself, outcome: 'failed', detail });
  }

  countFailed(): number {
    return this.results.filter(({ outcome }) => outcome === 'failed').length;
  }

  whereItHangs(): string {
    if (this.#open.length > 0) return `still running: ${this.#open.join(', ')}`;
    if (this.results.length === 0) return 'no test was running';
    return 'its tests are over, but something it opened was never closed';
  }

  judgeExit(exit: string): void {
    if (exit !== '') this.fail(exit);
    else if (this.results.length === 0) this.fail('no test ended: it holds none, or one exits');
    else if (!this.#isFinished) this.fail('ended before its tests did');
  }
}

/**
 * A developer's own settings of the hub must not change what the tests see; those made for tests
 * (`SIGNALBOX_TEST_…`, `SVC_TEST_…`) may. Nor must a `node --test` around us change how the files
 * report.
 */
export function testEnvironment(engine?: TestEngine): NodeJS.ProcessEnv {
  const foreign = /^((SVC|SIGNALBOX)_(?!TEST_)|SIGNALBOX_TEST_ENGINE$|NODE_TEST_CONTEXT$)/;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const chosen = engine === undefined ? [] : [['SIGNALBOX_TEST_ENGINE', engine]];
  return Object.fromEntries([...kept, ...chosen]);
}
