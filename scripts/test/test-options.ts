import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { engines, type TestEngine } from './engines.ts';

export interface TestOptions {
  /** Parts of paths; a test file runs when its path holds one of them. None: every file runs. */
  readonly filters: readonly string[];
  /** What tests of the database are run on, once each. */
  readonly engines: readonly TestEngine[];
  /** Every skipped test (and every `todo`) is a failure. */
  readonly noSkips: boolean;
  /** How many files run at once. */
  readonly concurrency: number;
  /** Time one file may take; undefined: the limit of its kind. */
  readonly fileLimitMs: number | undefined;
}

export const testUsage = `npm test -- [options] [part of a path …]
  --engine NAME      sqlite or postgres only, for tests of the database; else both, one after the
                     other (also SIGNALBOX_TEST_ENGINE=NAME)
  --no-skips         a skipped test is a failure (also SIGNALBOX_TEST_NO_SKIPS=1)
  --concurrency N    test files at once (default: processors, at most 4)
  --file-limit-ms N  time one test file may take`;

/** @throws a sentence for people when an option is unknown or has a bad value. */
export function readTestOptions(args: readonly string[], env: NodeJS.ProcessEnv): TestOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      engine: { type: 'string' },
      'no-skips': { type: 'boolean' },
      concurrency: { type: 'string' },
      'file-limit-ms': { type: 'string' },
    },
  });
  return {
    filters: positionals.map((filter) => filter.replace(/^\.\//, '')),
    engines: readEngines(values.engine ?? env.SIGNALBOX_TEST_ENGINE),
    noSkips: values['no-skips'] ?? env.SIGNALBOX_TEST_NO_SKIPS === '1',
    // More at once than four gains little and makes tests wait for each other's disk syncs.
    concurrency:
      readCount('--concurrency', values.concurrency) ?? Math.min(availableParallelism(), 4),
    fileLimitMs: readCount('--file-limit-ms', values['file-limit-ms']),
  };
}

function readEngines(value: string | undefined): readonly TestEngine[] {
  if (value === undefined) return engines;
  const chosen = engines.filter((engine) => engine === value);
  if (chosen.length === 0) throw new Error(`--engine takes ${engines.join(' or ')}.`);
  return chosen;
}

function readCount(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new Error(`${name} takes a whole number above 0.`);
  return Number(value);
}
