import type { Principal } from '../principal.ts';

/** A job token covers its own job. */
export function coversJob(principal: Principal, input: { jobId: string }): boolean {
  return principal.job?.jobId === input.jobId;
}

/** A job token covers lists that are limited to its own run. */
export function coversRun(principal: Principal, input: { runId?: string | undefined }): boolean {
  return input.runId !== undefined && principal.job?.runId === input.runId;
}

/** Taking a job from its holder is a person's act, not a program's. */
export function mayRelease(principal: Principal): boolean {
  return principal.kind !== 'service' && principal.kind !== 'job';
}
