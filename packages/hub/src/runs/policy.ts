import type { Principal } from '../principal.ts';

/** By reference, a job token may write the run that it belongs to, and never makes one. */
export function mayWriteRun(principal: Principal, known: { run_id: string } | undefined): boolean {
  return principal.job === null || principal.job.runId === known?.run_id;
}
