import type { Principal } from '../principal.ts';

/** Whether the caller may write a run by reference: a job token only the run of its job. */
export function mayWriteRun(principal: Principal, known: { run_id: string } | undefined): boolean {
  return principal.job === null || principal.job.runId === known?.run_id;
}
