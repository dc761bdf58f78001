import { join } from 'node:path';
import { endOf, spawnGroup } from '../test/process-group.ts';
import { testEnvironment } from '../test/test-process.ts';
import type { FileEvent } from './failure-reporter.ts';

/** The first failure of a run. */
export interface Failure {
  /** Undefined when no test failed: the process ended early, or had no result in time. */
  readonly file: string | undefined;
  readonly description: string;
}

export interface Run {
  /** Undefined if all tests passed. */
  readonly failure: Failure | undefined;
  readonly durationsMs: Record<string, number>;
}

/** The model test compares a fixed number of fixed sequences, so that its verdict repeats. */
const steadyModel = {
  SIGNALBOX_TEST_MODEL_SEQUENCES: '25',
  SIGNALBOX_TEST_MODEL_SEED: '1',
};

/**
 * Runs test files on SQLite, one after the other in one process, which saves most of the time of
 * starting. Ends at the first failure, or after `limitMs`.
 */
export async function runTestFiles(
  root: string,
  files: readonly string[],
  limitMs: number,
): Promise<Run> {
  const reporter = join(root, 'scripts/mutate/failure-reporter.ts');
  const child = spawnGroup(
    [`--test-reporter=${reporter}`, join(root, 'scripts/mutate/run-tests.ts'), ...files],
    root,
    ['ignore', 'pipe', 'pipe', 'ipc'],
    {
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'),
      ...testEnvironment('sqlite'),
      ...steadyModel,
    },
  );
  const durationsMs: Record<string, number> = {};
  let failure: Failure | undefined;
  child.on('message', (message) => {
    const event = message as FileEvent;
    if (event.kind === 'ended') durationsMs[event.file] = event.durationMs;
    else if (failure === undefined) {
      failure = { file: event.file, description: event.test };
      child.kill('SIGKILL');
    }
  });
  const { exit, isLate } = await endOf(child, limitMs);
  const missing = files.find((file) => !(file in durationsMs));
  const early = missing === undefined ? '' : `ended before ${missing}`;
  const end = isLate ? `no result after ${limitMs / 1_000} s` : exit || early;
  if (end !== '') failure ??= { file: undefined, description: end };
  return { failure, durationsMs };
}
