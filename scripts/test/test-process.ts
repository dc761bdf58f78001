import type { ChildProcess } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TestEngine } from './engines.ts';
import { FileLog, type FileReport } from './file-log.ts';
import { type Ending, endGroup, endOf, outputMaxChars, spawnGroup } from './process-group.ts';
import { outputEnd, type TestEvent, type TestOrder } from './test-event.ts';

/** Where Node keeps compiled modules: without it, each process compiles the whole hub again. */
const compileCache = (root: string) => join(root, 'node_modules/.cache/compile');

/** How long a process may take to end after its last file. */
const endMs = 30_000;

export interface TestProcessOptions {
  /** Ends a file with its first failed test. */
  readonly endsAtFailure?: boolean;
  /** A module to load before the first file. */
  readonly place?: string | undefined;
}

interface RunningFile {
  readonly log: FileLog;
  readonly finished: PromiseWithResolvers<void>;
  output: string;
  /** Streams whose output of this file is not complete. */
  openStreams: number;
  readonly outputEnded: PromiseWithResolvers<void>;
}

/**
 * A process, with its own process group, that runs files of node:test one after the other. The
 * files share what Node has loaded and compiled, which is most of the work of a short file.
 */
export class TestProcess {
  readonly engine: TestEngine | undefined;
  readonly #root: string;
  readonly #endsAtFailure: boolean;
  readonly #child: ChildProcess;
  readonly #ending: Promise<Ending>;
  #running: RunningFile | undefined;
  #hasFailed = false;
  #hasEnded = false;

  constructor(root: string, engine?: TestEngine, options: TestProcessOptions = {}) {
    const { endsAtFailure = false, place } = options;
    this.engine = engine;
    this.#root = root;
    this.#endsAtFailure = endsAtFailure;
    this.#child = spawnGroup(
      [
        `--test-reporter=${join(import.meta.dirname, 'test-reporter.ts')}`,
        ...(place === undefined ? [] : [`--import=${pathToFileURL(join(root, place)).href}`]),
        join(import.meta.dirname, 'test-host.ts'),
      ],
      root,
      ['ignore', 'pipe', 'pipe', 'ipc'],
      {
        NODE_COMPILE_CACHE: compileCache(root),
        ...testEnvironment(engine),
        ...(place === undefined ? {} : { SIGNALBOX_TEST_PLACE: place }),
      },
    );
    this.#ending = endOf(this.#child);
    void this.#ending.then(() => {
      this.#hasEnded = true;
    });
    this.#child.on('message', (message) => this.#hear(message as TestEvent));
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (text: string) => this.#keepOutput(text));
    }
  }

  /**
   * False after a failure: what the failed file left behind must not fail the next one.
   */
  get isUsable(): boolean {
    return !this.#hasFailed && !this.#hasEnded;
  }

  /**
   * Runs one file; not several at once.
   *
   * A file that hangs past `limitMs` is ended together with everything it started. A file that ends
   * the process, leaves something open or changed, or holds no test has a failure of its own.
   */
  async run(file: string, limitMs: number): Promise<FileReport> {
    const startMs = performance.now();
    const log = new FileLog();
    const running: RunningFile = {
      log,
      finished: Promise.withResolvers(),
      output: '',
      openStreams: 2,
      outputEnded: Promise.withResolvers(),
    };
    this.#running = running;
    const limit = setTimeout(() => {
      log.fail(`ended after ${limitMs / 1_000} s without a result; ${log.whereItHangs()}`);
      endGroup(this.#child);
    }, limitMs);
    this.#child.send({ file: join(this.#root, file) } satisfies TestOrder);
    const whole = Promise.all([running.finished.promise, running.outputEnded.promise]);
    const early = await Promise.race([whole.then(() => undefined), this.#ending]);
    clearTimeout(limit);
    if (early !== undefined && !log.hasFailed) {
      log.fail(`the process ended before the tests did: ${early.exit || 'with code 0'}`);
    }
    this.#running = undefined;
    this.#hasFailed ||= log.hasFailed;
    return {
      file,
      ...(this.engine === undefined ? {} : { engine: this.engine }),
      results: log.results,
      durationMs: performance.now() - startMs,
      processorMs: log.processorMs,
      output: running.output.trim(),
    };
  }

  /** Ends the process. Returns what went wrong after its last file; empty after a failed file. */
  async end(): Promise<string> {
    if (this.#child.connected) this.#child.disconnect();
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      endGroup(this.#child);
    }, endMs);
    const { exit, output } = await this.#ending;
    clearTimeout(limit);
    if (this.#hasFailed) return '';
    const text = output.replaceAll(outputEnd, '');
    if (isLate) return `the process did not end\n${text}`;
    return exit === '' ? '' : `the process ${exit}\n${text}`;
  }

  #hear(event: TestEvent): void {
    const running = this.#running;
    if (running?.log.hear(event)) running.finished.resolve();
    else if (this.#endsAtFailure && running?.log.hasFailed) endGroup(this.#child);
  }

  #keepOutput(text: string): void {
    const running = this.#running;
    if (running === undefined) return;
    const own = text.replaceAll(outputEnd, '');
    running.output = (running.output + own).slice(-outputMaxChars);
    if (own === text) return;
    running.openStreams -= 1;
    if (running.openStreams === 0) running.outputEnded.resolve();
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
  // A test that names no data directory must not find the hub of the person who runs it.
  const home = ['XDG_DATA_HOME', join(tmpdir(), 'signalbox-test-data')];
  return Object.fromEntries([...kept, ...chosen, home]);
}
