import type { TestEngine } from '../test/engines.ts';
import type { FileReport } from '../test/file-log.ts';
import { TestProcess } from '../test/test-process.ts';

/** The first failure of a run. */
export interface Failure {
  readonly file: string;
  /** The name of the test, and how it ended where no test failed by itself. */
  readonly description: string;
}

export interface RunOptions {
  /** A file without a result after this time has failed. */
  limitMsOf(file: string): number;
  hearPass(file: string, durationMs: number): void;
}

/** The model tests compare a fixed number of fixed sequences, so that a verdict repeats. */
export function useSteadyModel(): void {
  process.env.SIGNALBOX_TEST_MODEL_SEQUENCES = '25';
  process.env.SIGNALBOX_TEST_MODEL_SEED = '1';
  process.env.SIGNALBOX_TEST_MODEL_SHRINK = 'false';
}

/**
 * Runs test files one after the other in one process, which saves most of the time of starting.
 * Ends at the first failure, which it returns.
 */
export async function runTestFiles(
  root: string,
  engine: TestEngine,
  files: readonly string[],
  { limitMsOf, hearPass }: RunOptions,
): Promise<Failure | undefined> {
  const host = new TestProcess(root, engine, { endsAtFailure: true });
  try {
    for (const file of files) {
      const report = await host.run(file, limitMsOf(file));
      const failure = failureOf(report);
      if (failure !== undefined) return failure;
      hearPass(file, report.durationMs);
    }
  } finally {
    await host.end();
  }
  return undefined;
}

function failureOf({ file, results }: FileReport): Failure | undefined {
  const failed = results.find(({ outcome }) => outcome === 'failed');
  if (failed === undefined) return undefined;
  const [reason = ''] = failed.detail.split('\n');
  return { file, description: `${failed.name}: ${reason}` };
}
