import type { FileReport, TestResult } from './file-report.ts';

/** How much of an error is told again at the end of a run. */
const failureMaxLines = 15;
/** How many of the files that take the most processor time a run names. */
const expensiveMax = 10;

export interface TestTotals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** A `todo` is a skip by another name. */
export function countResults(reports: readonly FileReport[]): TestTotals {
  const totals = { passed: 0, failed: 0, skipped: 0, todo: 0 };
  for (const { results } of reports) {
    for (const { outcome } of results) totals[outcome] += 1;
  }
  return {
    passed: totals.passed,
    failed: totals.failed,
    skipped: totals.skipped + totals.todo,
  };
}

/** Makes every skip a failure that says so. */
export function forbidSkips(report: FileReport): FileReport {
  const results = report.results.map((result): TestResult => {
    if (!isSkip(result)) return result;
    return { ...result, outcome: 'failed', detail: `${result.outcome}: ${result.detail}` };
  });
  return { ...report, results };
}

/**
 * One line of progress. Under it the figures of the file, and of a failed one its failures and the
 * end of what it printed.
 */
export function describeReport(report: FileReport): string {
  const { passed, failed, skipped } = countResults([report]);
  const counts = [`${passed} passed`];
  if (failed > 0) counts.push(`${failed} failed`);
  if (skipped > 0) counts.push(`${skipped} skipped`);
  const mark = failed === 0 ? '✓' : '✗';
  const times = [formatTime(report.durationMs)];
  if (report.processorMs !== undefined) times.push(`processor ${formatTime(report.processorMs)}`);
  const lines = [`${mark} ${nameOf(report)}  ${counts.join(', ')}  ${times.join(', ')}`];
  for (const figure of report.figures ?? []) lines.push(indent(figure, 4));
  if (failed === 0) return lines.join('\n');
  for (const { name, outcome, detail } of report.results) {
    if (outcome === 'failed') lines.push(`  ✗ ${name}`, indent(detail, 6));
  }
  if (report.output !== '') lines.push('  what it printed:', indent(report.output, 6));
  return lines.join('\n');
}

export interface RunFacts {
  readonly durationMs: number;
  /** Processor time of the whole run, with the database server and the builds. */
  readonly processorMs: number;
  readonly engineNote?: string;
  /** The first reports of files that failed and passed when they were repeated. */
  readonly unsteady?: readonly FileReport[];
}

/**
 * The end of a run: times and counts of each suite, the files that took the most processor time,
 * everything that was skipped and why, what failed, and as the very last line the totals.
 */
export function describeRun(
  reports: readonly FileReport[],
  { durationMs, processorMs, engineNote = '', unsteady = [] }: RunFacts,
): string {
  const lines = ['', ...describeSuites(reports), '', ...describeExpensive(reports)];
  lines.push(...describeSkips(reports), '');
  lines.push(...describeFailures('Flaky: failed, then passed:', unsteady));
  lines.push(...describeFailures('Failed:', reports));
  if (engineNote !== '') lines.push(engineNote);
  const { passed, failed, skipped } = countResults(reports);
  // The time of a process whose parent was killed is known to its file only.
  const filesMs = sumProcessorMs(reports);
  const allMs = Math.max(processorMs, filesMs);
  const restMs = allMs - filesMs;
  lines.push(
    `Took ${formatTime(durationMs)}, and ${formatTime(allMs)} of processor time: ` +
      `${formatTime(restMs)} of it for the database server, builds and the run itself.`,
    ...countUnsteady(unsteady),
    `${passed} passed, ${failed} failed, ${skipped} skipped`,
  );
  return lines.join('\n');
}

/** Not part of the totals, so that they are those of the second results. */
function countUnsteady({ length }: readonly FileReport[]): string[] {
  if (length === 0) return [];
  return [`Flaky: ${length} ${length === 1 ? 'file' : 'files'} failed, then passed.`];
}

function describeSuites(reports: readonly FileReport[]): string[] {
  const lines = ['Suites (sums of their files: time, processor time, tests):'];
  for (const [suite, members] of Map.groupBy(reports, suiteOf)) {
    const { passed, failed, skipped } = countResults(members);
    const durationMs = members.reduce((sum, report) => sum + report.durationMs, 0);
    const times = [durationMs, sumProcessorMs(members)].map((ms) => formatTime(ms).padStart(8));
    const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
    lines.push(`  ${suite.padEnd(28)} ${times.join(' ')}  ${counts}`);
  }
  return lines;
}

/** Of a run of a few files their own lines tell as much. */
function describeExpensive(reports: readonly FileReport[]): string[] {
  if (reports.length <= expensiveMax) return [];
  const first = reports
    .toSorted((one, other) => (other.processorMs ?? 0) - (one.processorMs ?? 0))
    .slice(0, expensiveMax)
    .map((report) => `  ${formatTime(report.processorMs ?? 0).padStart(8)}  ${nameOf(report)}`);
  return ['Most processor time:', ...first, ''];
}

function sumProcessorMs(reports: readonly FileReport[]): number {
  return reports.reduce((sum, report) => sum + (report.processorMs ?? 0), 0);
}

function describeSkips(reports: readonly FileReport[]): string[] {
  const skips = reports.flatMap((report) =>
    report.results.filter(isSkip).map((result) => {
      return `  ${nameOf(report)}: ${result.name} (${result.outcome}): ${result.detail}`;
    }),
  );
  return skips.length === 0 ? ['Nothing was skipped.'] : ['Skipped, and why:', ...skips];
}

/**
 * Repeats the failures at the end, each with the beginning of its error. In a long run the failure
 * itself has scrolled away, and a log may keep its last lines only.
 */
function describeFailures(title: string, reports: readonly FileReport[]): string[] {
  const failures = reports.flatMap((report) =>
    report.results
      .filter(({ outcome }) => outcome === 'failed')
      .map(({ name, detail }) => {
        const lines = detail.split('\n').slice(0, failureMaxLines).join('\n');
        return `  ${nameOf(report)}: ${name}\n${indent(lines, 6)}`;
      }),
  );
  return failures.length === 0 ? [] : [title, ...failures, ''];
}

function isSkip({ outcome }: TestResult): boolean {
  return outcome === 'skipped' || outcome === 'todo';
}

/** `packages/hub (postgres)`, `scripts`, `e2e (sqlite)`, … */
function suiteOf({ file, engine }: FileReport): string {
  const [first = '', second = ''] = file.split(/[/ ]/);
  return nameOf({ file: first === 'packages' ? `${first}/${second}` : first, engine });
}

function nameOf({ file, engine }: { file: string; engine?: string | undefined }): string {
  return engine === undefined ? file : `${file} (${engine})`;
}

export function formatTime(durationMs: number): string {
  return `${(durationMs / 1_000).toFixed(1)} s`;
}

function indent(text: string, columns: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(columns));
}
