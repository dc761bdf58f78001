import type { Principal } from '../base/principal.ts';
import type { RunChanges, RunRow } from './store.ts';

/** The tool of a job may say where the work of its run is, not what it is or how it ended. */
const saidByTools: readonly (keyof RunChanges)[] = ['current_milestone', 'run_state_path'];

/** Whether the caller may write a run by reference: a job token only the run of its job. */
export function mayWriteRun(principal: Principal, known: { run_id: string } | undefined): boolean {
  return principal.job === null || principal.job.runId === known?.run_id;
}

/** Whether the caller may change a run so. A value that the run has already is no change. */
export function mayChangeRun(principal: Principal, row: RunRow, changes: RunChanges): boolean {
  if (principal.job === null) return true;
  // The columns that requests can change.
  const columns = Object.keys(changes) as (keyof RunChanges)[];
  return columns.every((column) => saidByTools.includes(column) || changes[column] === row[column]);
}
