import type { TestEngine } from './engines.ts';
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
  readonly engine?: TestEngine | undefined;
  readonly results: readonly TestResult[];
  readonly durationMs: number;
  /** With the processes that it started; undefined when its process did not live to tell. */
  readonly processorMs?: number | undefined;
  /** The end of what the file printed, for when it failed. */
  readonly output: string;
}

/** A file whose failures are its own fault: no test of it can be blamed. */
export const fileItself = '(the file)';

/** Collects the results of a file while it runs. */
export class FileLog {
  readonly results: TestResult[] = [];
  /** Undefined until the end of the file. */
  processorMs: number | undefined;
  readonly #open: string[] = [];

  /** Returns true with the last event of the file. */
  hear(event: TestEvent): boolean {
    if (event.kind === 'result') this.results.push(event);
    else if (event.kind === 'started') this.#open.push(event.name);
    else if (event.kind === 'ended') this.#open.splice(this.#open.lastIndexOf(event.name), 1);
    else if (event.kind === 'uncaught') this.fail(`${event.detail}\n${this.whereItHangs()}`);
    else this.#judge(event);
    return event.kind === 'finished';
  }

  fail(detail: string): void {
    this.results.push({ name: fileItself, outcome: 'failed', detail });
  }

  get hasFailed(): boolean {
    return this.results.some(({ outcome }) => outcome === 'failed');
  }

  whereItHangs(): string {
    if (this.#open.length > 0) return `still running: ${this.#open.join(', ')}`;
    return this.results.length === 0 ? 'no test was running' : 'its tests are over';
  }

  #judge({ traces, processorMs }: Extract<TestEvent, { kind: 'finished' }>): void {
    this.processorMs = processorMs;
    if (this.hasFailed) return;
    if (this.results.length === 0) this.fail('contains no test');
    for (const trace of traces) this.fail(trace);
  }
}
