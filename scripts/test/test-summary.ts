import type { FileReport, TestResult } from './file-log.ts';

/** How much of an error is told again at the end of a run. */
const failureMaxLines = 15;

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

/** One line of progress, and under a failed file its failures and the end of what it printed. */
export function describeReport(report: FileReport): string {
  const { passed, failed, skipped } = countResults([report]);
  const counts = [`${passed} passed`];
  if (failed > 0) counts.push(`${failed} failed`);
  if (skipped > 0) counts.push(`${skipped} skipped`);
  const mark = failed === 0 ? '✓' : '✗';
  const lines = [
    `${mark} ${nameOf(report)}  ${counts.join(', ')}  ${formatTime(report.durationMs)}`,
  ];
  if (failed === 0) return lines.join('\n');
  for (const { name, outcome, detail } of report.results) {
    if (outcome === 'failed') lines.push(`  ✗ ${name}`, indent(detail, 6));
  }
  if (report.output !== '') lines.push('  what it printed:', indent(report.output, 6));
  return lines.join('\n');
}

/**
 * The end of a run: time and counts of each suite, everything that was skipped and why, what
 * failed, and as the very last line the totals.
 *
 * @param unsteady the first reports of files that failed and passed when they were repeated.
 */
export function describeRun(
  reports: readonly FileReport[],
  durationMs: number,
  engineNote = '',
  unsteady: readonly FileReport[] = [],
): string {
  const lines = ['', 'Suites (time is the sum of their files):'];
  for (const [suite, members] of Map.groupBy(reports, suiteOf)) {
    const { passed, failed, skipped } = countResults(members);
    const timeMs = members.reduce((sum, report) => sum + report.durationMs, 0);
    const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
    lines.push(`  ${suite.padEnd(28)} ${formatTime(timeMs).padStart(8)}  ${counts}`);
  }
  lines.push('', ...describeSkips(reports), '');
  lines.push(...describeFailures('Failed at first, and passed when repeated alone:', unsteady));
  lines.push(...describeFailures('Failed:', reports));
  if (engineNote !== '') lines.push(engineNote);
  const { passed, failed, skipped } = countResults(reports);
  lines.push(
    `Took ${formatTime(durationMs)}.`,
    `${passed} passed, ${failed} failed, ${skipped} skipped`,
  );
  return lines.join('\n');
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
