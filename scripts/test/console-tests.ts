import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type FileReport, failureOf, type TestResult } from './file-report.ts';
import { endLeftovers, makeMark } from './marked-processes.ts';

/** The parts of Vitest's JSON report that are used. */
interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[] | null;
    }[];
  }[];
}

const outcomes = new Map<string, TestResult['outcome']>([
  ['passed', 'passed'],
  ['skipped', 'skipped'],
  ['pending', 'skipped'],
  ['disabled', 'skipped'],
  ['todo', 'todo'],
]);
const outputBytesMax = 64 * 2 ** 20;

/** Runs the console's component tests with Vitest, all files in one run. */
export async function runConsoleTests(
  root: string,
  files: readonly string[],
  limitMs: number,
): Promise<FileReport> {
  const startMs = performance.now();
  const paths = files.map((file) => join(root, file));
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const reportFile = join(root, `node_modules/.cache/vitest-${process.pid}.json`);
  const mark = makeMark();
  const env = { ...process.env, ...mark };
  const options = { cwd: join(root, 'packages/console'), env, timeout: limitMs };
  const limits = { ...options, killSignal: 'SIGKILL', maxBuffer: outputBytesMax } as const;
  const { stdout, stderr, message } = await promisify(execFile)(
    process.execPath,
    [vitest, 'run', '--reporter=json', `--outputFile=${reportFile}`, ...paths],
    limits,
  ).then(
    (output) => ({ ...output, message: null }),
    (error: Error & { stdout: string; stderr: string }) => error,
  );
  await endLeftovers(mark);
  const file = 'packages/console (Vitest)';
  const output = `${stdout}\n${stderr}`;
  if (!existsSync(reportFile)) return failureOf(file, `has no report:\n${output}`);
  const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8')) as VitestReport;
  rmSync(reportFile);
  const run = new Set(testResults.map(({ name }) => name));
  const missing = paths
    .filter((path) => !run.has(path))
    .flatMap((path) => failureOf(file, `${path} was not run: see vitest.config.ts`).results);
  const results = [...testResults.flatMap(readResults), ...missing];
  // An error outside of a test, or a run that was too long.
  if (message !== null && results.every(({ outcome }) => outcome !== 'failed')) {
    results.push(...failureOf(file, message).results);
  }
  return { file, results, durationMs: performance.now() - startMs, output };
}

function readResults(file: VitestReport['testResults'][number]): TestResult[] {
  const results = file.assertionResults.map((test): TestResult => {
    const outcome = outcomes.get(test.status) ?? 'failed';
    const failure = (test.failureMessages ?? []).join('\n');
    const detail = outcome === 'failed' ? failure : 'no reason given';
    return { name: test.fullName, outcome, detail: outcome === 'passed' ? '' : detail };
  });
  // A file that fails to load has a message and no tests.
  if (file.status === 'failed' && results.length === 0) {
    results.push({ name: file.name, outcome: 'failed', detail: file.message });
  }
  return results;
}
