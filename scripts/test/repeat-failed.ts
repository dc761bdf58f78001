import type { FileReport } from './file-log.ts';
import { type FileRun, runInLanes } from './lanes.ts';
import { countResults } from './test-summary.ts';

/** More failed files than these are no matter of a busy machine. */
const FILES_MAX = 20;

export interface Repetition {
  /** The reports of all files; of a repeated one, those of its repetition. */
  readonly reports: readonly FileReport[];
  /** The first reports of files that failed then and passed when they were repeated. */
  readonly unsteady: readonly FileReport[];
}

/**
 * Runs each failed file once more, alone, when the others have ended (docs/decisions/0046). A fault
 * of the code fails again; a test that another file starved of the processor passes, and the run
 * names it.
 *
 * @param add is told each further report, and returns it as judged.
 */
export async function repeatFailed(
  root: string,
  runs: readonly FileRun[],
  reports: readonly FileReport[],
  add: (report: FileReport) => FileReport,
): Promise<Repetition> {
  const ofRun = (run: FileRun) => (report: FileReport) =>
    report.file === run.file && report.engine === run.engine;
  const failedOf = (some: readonly FileReport[]) => countResults(some).failed;
  const failed = runs.filter((run) => failedOf(reports.filter(ofRun(run))) > 0);
  if (failed.length === 0 || failed.length > FILES_MAX) return { reports, unsteady: [] };
  const again: FileReport[] = [];
  const alone = failed.map((run) => ({ ...run, isShared: false }));
  await runInLanes(root, { computing: alone, waiting: [] }, 1, (report) => {
    again.push(add(report));
  });
  const steady = failed.filter((run) => failedOf(again.filter(ofRun(run))) > 0);
  const isOf = (some: readonly FileRun[]) => (report: FileReport) =>
    some.some((run) => ofRun(run)(report));
  return {
    reports: [...reports.filter((report) => !isOf(failed)(report)), ...again],
    unsteady: reports.filter((report) => isOf(failed)(report) && !isOf(steady)(report)),
  };
}
