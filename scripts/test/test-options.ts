import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { engines, type TestEngine } from './engines.ts';

export interface TestOptions {
  /** Parts of paths; a test file runs when its path holds one of them. None: every file runs. */
  readonly filters: readonly string[];
  /** A revision of git: only what changes since then touch. Empty: since the branch left main. */
  readonly changedSince: string | undefined;
  /** The databases that tests of the hub run on, once each. */
  readonly engines: readonly TestEngine[];
  /** Every skipped test (and every `todo`) is a failure. */
  readonly noSkips: boolean;
  /** Files that failed run once more, alone, at the end. */
  readonly repeatFailed: boolean;
  /** How many files run at once. */
  readonly concurrency: number;
}

export const testUsage = `npm test -- [options] [part of a path …]
  --engine NAME      the database under tests of the hub: sqlite (the default), postgres, or both,
                     as in CI (also SIGNALBOX_TEST_ENGINE=NAME)
  --changed[=REV]    only tests that changes touch, committed or not, since the branch left main
                     (or since REV). A test is touched when it or a file that it imports has
                     changed. A change inside one module of the hub runs the tests of that module,
                     of the modules that import the change from it, and those of rules that
                     hold for every endpoint; tests elsewhere that start a whole hub are left to CI,
                     and so are whole systems after a change of the agent or the command line.
  --no-skips         a skipped test is a failure (also SIGNALBOX_TEST_NO_SKIPS=1)
  --repeat-failed    a file that failed runs once more, alone, at the end, as in CI; the run names it
  --concurrency N    test files at once (default: three a processor, at most 6)`;

/** @throws a sentence for people when an option is unknown or has a bad value. */
export function readTestOptions(args: readonly string[], env: NodeJS.ProcessEnv): TestOptions {
  const { values, positionals } = parseArgs({
    // The only option whose value may be left out.
    args: args.map((arg) => (arg === '--changed' ? '--changed=' : arg)),
    allowPositionals: true,
    options: {
      engine: { type: 'string' },
      changed: { type: 'string' },
      'no-skips': { type: 'boolean' },
      'repeat-failed': { type: 'boolean' },
      concurrency: { type: 'string' },
    },
  });
  return {
    filters: positionals.map((filter) => filter.replace(/^\.\//, '')),
    changedSince: values.changed,
    engines: readEngines(values.engine ?? env.SIGNALBOX_TEST_ENGINE ?? 'sqlite'),
    noSkips: values['no-skips'] ?? env.SIGNALBOX_TEST_NO_SKIPS === '1',
    repeatFailed: values['repeat-failed'] ?? false,
    // A file waits for processes, a database or a clock two thirds of its time or more.
    concurrency: readCount(values.concurrency) ?? Math.min(3 * availableParallelism(), 6),
  };
}

function readEngines(value: string): readonly TestEngine[] {
  if (value === 'both') return engines;
  const chosen = engines.filter((engine) => engine === value);
  if (chosen.length === 0) throw new Error(`--engine takes ${engines.join(', ')} or both.`);
  return chosen;
}

function readCount(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new Error('--concurrency takes a whole number above 0.');
  return Number(value);
}
