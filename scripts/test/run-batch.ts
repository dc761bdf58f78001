import { isAbsolute, join } from 'node:path';
import { type EventData, run } from 'node:test';
import { inspect } from 'node:util';
import type { TestEngine } from './engines.ts';
import { type FileReport, failureOf, type TestResult } from './file-report.ts';
import { endLeftovers, endMarked, makeMark } from './marked-processes.ts';
import { outputEnd } from './test-host.ts';

/** Files that run one after the other in one process, and share what Node has loaded. */
export interface Batch {
  readonly files: readonly string[];
  /** The database, for files that depend on it. */
  readonly engine?: TestEngine | undefined;
  /** The module that their process loads first. */
  readonly place?: string | undefined;
}

type Ended = EventData.TestPass | EventData.TestFail;

/** Characters kept of the output of one file. */
const outputMaxChars = 64_000;

/**
 * Runs the files of a batch. A file that ends its process fails, and those after it run in another
 * one. A file that hangs past `limitMs`, leaves something open or changed, or holds no test has a
 * failure of its own.
 */
export async function runBatch(
  root: string,
  batch: Batch,
  limitMs: number,
  add: (report: FileReport) => void,
): Promise<void> {
  let { files } = batch;
  while (files.length > 0) {
    const log = new BatchLog({ ...batch, files }, add);
    await runProcess(root, { ...batch, files }, limitMs, log);
    log.end();
    files = files.slice(log.endedCount);
  }
}

async function runProcess(root: string, batch: Batch, limitMs: number, log: BatchLog) {
  const { files, place } = batch;
  const paths = [place, ...files].map((file) => (file === undefined ? '' : join(root, file)));
  const mark = makeMark();
  const env = { ...environmentOf(batch), ...mark };
  const limit = setTimeout(() => {
    log.fail(`ended after ${limitMs / 1_000} s without a result`);
    endMarked(mark);
  }, limitMs);
  const host = join(import.meta.dirname, 'test-host.ts');
  const events = run({ files: [host], argv: paths, cwd: root, env, isolation: 'process' });
  for await (const { type, data } of events) {
    if (type === 'test:start') log.open(data);
    else if (type === 'test:stdout' || type === 'test:stderr') log.print(type, data.message);
    else if (type === 'test:diagnostic') log.diagnose(data.message);
    else if (type === 'test:dequeue') log.running.push(data.name);
    else if (type === 'test:complete') log.running.splice(log.running.lastIndexOf(data.name), 1);
    else if (type === 'test:pass' || type === 'test:fail') {
      if (log.close(data, type === 'test:pass')) limit.refresh();
    }
  }
  clearTimeout(limit);
  await endLeftovers(mark);
}

function environmentOf({ engine, place }: Batch): NodeJS.ProcessEnv {
  const chosen = engine === undefined ? {} : { SIGNALBOX_TEST_ENGINE: engine };
  return { ...process.env, ...chosen, ...(place && { SIGNALBOX_TEST_PLACE: place }) };
}

/** The counts of node:test, which the reports have as well. */
const countOfNode = /^(?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

/** Makes reports of the events of a process. */
class BatchLog {
  endedCount = 0;
  /** The names of tests that have begun and not ended: where a file hangs. */
  readonly running: string[] = [];
  readonly #batch: Batch;
  readonly #add: (report: FileReport) => void;
  /** The names of the tests around the one that ends next, the path of the file first. */
  readonly #path: string[] = [];
  readonly #printed = { 'test:stdout': '', 'test:stderr': '' };
  /** Their output arrives with the end of the process. */
  readonly #failed: { report: FileReport; at: number }[] = [];
  #results: TestResult[] = [];
  #figures: string[] = [];
  #hasFailed = false;
  #lateError = '';
  #startMs = performance.now();

  constructor(batch: Batch, add: (report: FileReport) => void) {
    this.#batch = batch;
    this.#add = add;
  }

  open({ name, nesting }: EventData.TestStart): void {
    this.#path.splice(nesting, this.#path.length, name);
  }

  print(stream: 'test:stdout' | 'test:stderr', text: string): void {
    this.#printed[stream] += text;
  }

  /** An error after the end of its test is not a failure for node:test. */
  diagnose(message: string): void {
    if (message.includes('asynchronous activity')) this.#lateError = message;
    else if (!countOfNode.test(message)) this.#figures.push(message);
  }

  /** Returns true at the end of a file. */
  close(data: Ended, hasPassed: boolean): boolean {
    // Node's own sentence on the process says nothing more than the results before it.
    if (data.nesting === 0 && data.name.endsWith('test-host.ts')) {
      if (hasPassed || this.#hasFailed || this.#lateError !== '') return false;
    }
    const result = readResult(data, hasPassed, this.#path);
    if (result !== null) this.#results.push(result);
    this.#hasFailed ||= result?.outcome === 'failed';
    const [file] = this.#batch.files.slice(this.endedCount);
    const isFile = data.nesting === 0 && file !== undefined && data.name.endsWith(file);
    if (isFile) this.#endFile();
    return isFile;
  }

  /** Reports the file that ended the process, and what happened after the last one. */
  end(): void {
    const { files, engine } = this.#batch;
    if (this.endedCount < files.length) {
      const names = this.running.filter((name) => !isAbsolute(name)).join(' › ') || 'no test';
      this.fail(`the process ended before the tests did; running: ${names}`);
      this.#endFile();
    }
    for (const { report, at } of this.#failed) this.#add({ ...report, output: this.#outputOf(at) });
    const [file = ''] = files;
    const name = files.length === 1 ? file : `(a process from ${file} on)`;
    if (this.#lateError !== '') this.#add(failureOf(name, this.#lateError, engine));
    else if (this.#results.length > 0) {
      this.#add({ ...failureOf(name, '', engine), results: this.#results });
    }
  }

  fail(detail: string): void {
    this.#hasFailed = true;
    this.#results.push({ name: '(the file)', outcome: 'failed', detail });
  }

  #endFile(): void {
    const at = this.endedCount;
    const { files, engine } = this.#batch;
    if (this.#results.length === 0) this.fail('contains no test');
    const [, processorMs] = this.#printed['test:stdout'].split(outputEnd).slice(2 * at);
    const report: FileReport = {
      file: files[at] ?? '',
      engine,
      results: this.#results,
      output: '',
      figures: this.#figures,
      durationMs: performance.now() - this.#startMs,
      processorMs: processorMs === undefined ? undefined : Number(processorMs),
    };
    if (report.results.some(({ outcome }) => outcome === 'failed'))
      this.#failed.push({ report, at });
    else this.#add(report);
    this.endedCount += 1;
    this.#results = [];
    this.#figures = [];
    this.#startMs = performance.now();
  }

  #outputOf(at: number): string {
    const [own = ''] = this.#printed['test:stdout'].split(outputEnd).slice(2 * at);
    const [errors = ''] = this.#printed['test:stderr'].split(outputEnd).slice(at);
    return `${own}${errors}`.trim().slice(-outputMaxChars);
  }
}

/** Null for what only repeats the results of the tests inside. */
function readResult(data: Ended, hasPassed: boolean, path: readonly string[]): TestResult | null {
  const names = [...path.slice(1, data.nesting), data.name];
  const name = data.nesting === 0 ? '(the file)' : names.join(' › ');
  if (data.skip !== undefined) return { name, outcome: 'skipped', detail: reasonOf(data.skip) };
  if (data.todo !== undefined) return { name, outcome: 'todo', detail: reasonOf(data.todo) };
  if (hasPassed) {
    return data.details.type === 'suite' ? null : { name, outcome: 'passed', detail: '' };
  }
  const error = 'error' in data.details ? data.details.error : undefined;
  // Node's name for a failure that only repeats those of the tests inside.
  if (error !== undefined && 'failureType' in error && error.failureType === 'subtestsFailed') {
    return null;
  }
  // node:test wraps what a test threw; the wrapper says nothing more.
  return { name, outcome: 'failed', detail: inspect(error?.cause ?? error, { depth: 6 }) };
}

/** Node sends `true` or an empty string when the test gives no reason. */
function reasonOf(value: string | boolean): string {
  return typeof value === 'string' && value !== '' ? value : 'no reason given';
}
