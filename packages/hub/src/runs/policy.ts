import type { Principal } from '../principal.ts';

/** A job token covers its job's own run. */
export function coversOwnRun(principal: Principal, input: { runId: string }): boolean {
  return principal.job?.runId === input.runId;
}

/** Whether a job token may write by reference at all: only a job with a run has one to name. */
export function hasRun(principal: Principal): boolean {
  return principal.job !== null && principal.job.runId !== null;
}

/** By reference, a job token may write the run that it belongs to, and never makes one. */
export function mayWriteRun(principal: Principal, known: { run_id: string } | undefined): boolean {
  return principal.job === null || principal.job.runId === known?.run_id;
}
