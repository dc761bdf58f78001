import type { TestEngine } from './engines.ts';

/** One test that ended. */
export interface TestResult {
  readonly name: string;
  /** `todo` is a skip by another name, and is counted as one. */
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'todo';
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
  /** The measurements of its tests, in sentences. */
  readonly figures?: readonly string[];
  /** The end of what the file printed, for when it failed. */
  readonly output: string;
}

/** The report of a step or file that failed as a whole. */
export function failureOf(file: string, detail: string, engine?: TestEngine): FileReport {
  const results = [{ name: '(the file)', outcome: 'failed', detail }] as const;
  return { file, engine, results, durationMs: 0, output: '' };
}
