import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FileReport, TestResult } from './file-log.ts';
import { endOf, spawnGroup } from './process-group.ts';
import type { TestOutcome } from './test-event.ts';
import { testEnvironment } from './test-process.ts';

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

const outcomes: Readonly<Record<string, TestOutcome>> = {
  passed: 'passed',
  skipped: 'skipped',
  pending: 'skipped',
  disabled: 'skipped',
  todo: 'todo',
};

/** Runs the console's component tests with Vitest, all files in one run. */
export async function runConsoleTests(
  root: string,
  files: readonly string[],
  limitMs: number,
): Promise<FileReport> {
  const startMs = performance.now();
  const reportPath = join(root, `node_modules/.cache/vitest-${process.pid}.json`);
  const child = spawnGroup(
    [
      `--import=${join(import.meta.dirname, 'vitest-time.ts')}`,
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      ...['--reporter=json', `--outputFile=${reportPath}`],
      ...files.map((file) => join(root, file)),
    ],
    join(root, 'packages/console'),
    ['ignore', 'pipe', 'pipe', 'ipc'],
    testEnvironment(),
  );
  let processorMs: number | undefined;
  child.on('message', (message) => {
    ({ processorMs } = message as { processorMs: number });
  });
  const { exit, output, isLate } = await endOf(child, limitMs);
  const results: TestResult[] = [];
  const failRun = (detail: string) => {
    results.push({ name: '(the run)', outcome: 'failed', detail });
  };
  if (existsSync(reportPath)) {
    const report = JSON.parse(readFileSync(reportPath, 'utf8')) as VitestReport;
    results.push(...readReport(report));
    const run = new Set(report.testResults.map(({ name }) => name));
    for (const file of files) {
      if (!run.has(join(root, file)))
        failRun(`${file} was not run: see include in vitest.config.ts`);
    }
    rmSync(reportPath);
  }
  if (isLate) failRun(`terminated after ${limitMs / 1_000} s without a result`);
  else if (exit !== '' && !results.some(({ outcome }) => outcome === 'failed')) failRun(exit);
  else if (results.length === 0) failRun('contains no test');
  return {
    file: 'packages/console (Vitest)',
    results,
    durationMs: performance.now() - startMs,
    processorMs,
    output,
  };
}

function readReport(report: VitestReport): TestResult[] {
  return report.testResults.flatMap((file) => {
    const results = file.assertionResults.map((test): TestResult => {
      const outcome = outcomes[test.status] ?? 'failed';
      const failure = (test.failureMessages ?? []).join('\n');
      const detail = outcome === 'failed' ? failure : 'no reason given';
      return { name: test.fullName, outcome, detail: outcome === 'passed' ? '' : detail };
    });
    // A file that fails to load has a message and no tests.
    if (file.status === 'failed' && results.length === 0) {
      results.push({ name: file.name, outcome: 'failed', detail: file.message });
    }
    return results;
  });
}
