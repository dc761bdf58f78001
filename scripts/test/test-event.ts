/** The order to a process of tests: run this file, given by its absolute path. */
export interface TestOrder {
  readonly file: string;
}

/** The messages of a process of tests to the process that started it, one per event. */
export type TestEvent =
  /** A test is about to run; the last ones without an end are where a hanging file hangs. */
  | { readonly kind: 'started'; readonly name: string }
  | { readonly kind: 'ended'; readonly name: string }
  | {
      readonly kind: 'result';
      /** Names of the suites and tests around it, then its own, joined by ` › `. */
      readonly name: string;
      readonly outcome: TestOutcome;
      /** Why it was skipped, in the words of the test; for a failure the error. */
      readonly detail: string;
    }
  /** An error that no code handled; it ends the process. */
  | { readonly kind: 'uncaught'; readonly detail: string }
  /** The file came to its end; a process that exits without this did not. */
  | {
      readonly kind: 'finished';
      /** The changes that the file left in the process, as sentences. */
      readonly traces: readonly string[];
      /** Of the process and its children that have ended, since the last file. */
      readonly processorMs: number;
    };

/**
 * Ends the output of a file, on both streams: the messages of a process overtake its output. One
 * character (end of text), so that no chunk holds half of it.
 */
export const outputEnd = '\u0003';

/** `todo` is a skip by another name, and is counted as one. */
export type TestOutcome = 'passed' | 'failed' | 'skipped' | 'todo';
