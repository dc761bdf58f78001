import type { JobTokenRule } from '@signalbox/contract';
import type { Principal } from '../base/principal.ts';

type TokenJob = NonNullable<Principal['job']>;
/** The fields of a request that rules look at; the row's schema has validated them. */
interface Named {
  readonly jobId?: unknown;
  readonly runId?: unknown;
}

/** Each rule of the endpoint table, once. `JobTokenRule` documents what the words mean. */
const rules: Record<JobTokenRule, (job: TokenJob, named: Named) => boolean> = {
  none: () => false,
  always: () => true,
  'own-job': (job, named) => named.jobId === job.jobId,
  'own-run': ownsRun,
  'own-run-or-job': (job, named) =>
    ownsRun(job, named) || (named.runId === undefined && named.jobId === job.jobId),
  'own-run-and-job': (job, named) =>
    (named.runId === undefined || ownsRun(job, named)) &&
    (named.jobId === undefined || named.jobId === job.jobId),
  'own-run-by-reference': (job) => job.runId !== null,
  'by-operation': () => true,
};

/** Whether a principal may make this call as far as job tokens are concerned. */
export function admitsJobToken(rule: JobTokenRule, principal: Principal, input: object): boolean {
  return principal.job === null || rules[rule](principal.job, input);
}

function ownsRun(job: TokenJob, named: Named): boolean {
  return job.runId !== null && named.runId === job.runId;
}
