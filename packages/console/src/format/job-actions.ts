import type { Evidence, Job } from '@signalbox/contract';

export type JobAction =
  | 'answer'
  | 'retry'
  | 'edit'
  | 'continue'
  | 'elsewhere'
  | 'cancel'
  | 'release'
  | 'checkout'
  | 'duplicate';

export const actionWords: Readonly<Record<JobAction, string>> = {
  answer: 'Answer',
  retry: 'Retry',
  edit: 'Edit and retry',
  continue: 'Continue',
  elsewhere: 'Retry elsewhere',
  cancel: 'Cancel job',
  release: 'Release',
  checkout: 'Copy git switch',
  duplicate: 'Duplicate',
};

/** The actions that a dialog asks about first. */
export type DialogName = Exclude<JobAction, 'answer' | 'checkout' | 'continue' | 'duplicate'>;

/** The branch of an outcome's evidence; undefined without one. */
export function branchOf(evidence: Evidence | null): string | undefined {
  // Further fields of the evidence are the agent's, so any of them may have any form.
  const { branch } = (evidence ?? {}) as { branch?: unknown };
  return typeof branch === 'string' && branch !== '' ? branch : undefined;
}

/** Characters that no shell reads as anything but themselves. */
const plainName = /^[\w@%+=:,./-]+$/;

/** The command that checks a branch out, for a POSIX shell. */
export function checkoutCommandOf(branch: string): string {
  const quoted = plainName.test(branch) ? branch : `'${branch.replaceAll("'", "'\\''")}'`;
  // A name that begins with a dash would be read as an option.
  return `git switch ${branch.startsWith('-') ? '-- ' : ''}${quoted}`;
}

/**
 * The actions of a person on a job now: the one right action first, then the others.
 */
export function actionsOf(job: Job): JobAction[] {
  const actions = actionsOfStatus(job);
  // A landing is not repeated: its work is landed again.
  if (job.landsJobId) return actions.filter((each) => each === 'cancel' || each === 'release');
  return [...actions, 'duplicate'];
}

function actionsOfStatus(job: Job): JobAction[] {
  const cancel: JobAction[] = job.cancelRequestedAt === null ? ['cancel'] : [];
  switch (job.status) {
    case 'blocked':
      return job.waitingOnUncertaintyId === null
        ? ['retry', 'edit', ...cancel]
        : ['answer', 'retry', 'edit', ...cancel];
    case 'failed':
      return ['retry', 'edit'];
    case 'running':
      return [...cancel, 'release'];
    case 'pending':
      return cancel;
    case 'done':
      return branchOf(job.evidence) === undefined
        ? ['continue', 'elsewhere']
        : ['checkout', 'continue', 'elsewhere'];
    case 'canceled':
      return [];
  }
}
