import type { Job, JobEventKind, JobKind, JobStatus, WaitingFor } from '@signalbox/contract';

/** Display words for the wire's values, the same on every page. */
export const statusWords: Readonly<Record<JobStatus, string>> = {
  pending: 'Pending',
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  blocked: 'Blocked',
  canceled: 'Canceled',
};

/** Shown in place of the status of a job that is done without a change that it was to make. */
export const NO_CHANGES = 'No changes';
/** Shown in place of the status of a job that is done, where a part of its proof is missing. */
export const HAS_GAPS = 'Has gaps';

export const kindWords: Readonly<Record<JobKind, string>> = {
  install_ias: 'Install',
  create_run: 'Create run',
  context_architect: 'Context architect',
  apply_decision: 'Apply decision',
  update_git_policy: 'Update Git policy',
  git_repair: 'Git repair',
  work: 'Work',
  pr_review: 'Pull request review',
};

export const eventWords: Readonly<Record<JobEventKind, string>> = {
  enqueued: 'Enqueued',
  claimed: 'Claimed',
  heartbeat: 'Heartbeat',
  log: 'Output',
  completed: 'Completed',
  failed: 'Failed',
  blocked: 'Blocked',
  canceled: 'Canceled',
  recovered: 'Recovered',
};

export const waitingWords: Readonly<Record<WaitingFor['reason'], string>> = {
  not_yet_available: 'Waiting for its start time',
  agent_with_branch: 'Waiting for the only machine with the branch',
  dependencies: 'Waiting for other jobs',
  concurrency_key: 'Waiting for a job with the same concurrency key',
  queue_paused: 'The queue is paused',
  repository_archived: 'The repository is archived',
  no_agent_serves_repository: 'No online agent serves the repository',
  no_agent_with_capabilities: 'No online agent has the required capabilities',
  agents_paused: 'Every suitable agent is paused',
  agents_at_capacity: 'Every suitable agent is busy',
  queue_position: 'Waiting for its turn',
  lease_of_running_attempt: 'An agent holds the job',
  decision: "Waiting for a person's decision",
};

/** The words of a waiting job's row; `waitingWords` are whole sentences. */
export const shortWaitingWords: Readonly<Record<WaitingFor['reason'], string>> = {
  ...waitingWords,
  concurrency_key: 'Waiting for a job with the same key',
  no_agent_serves_repository: 'No online agent serves it',
  no_agent_with_capabilities: 'No online agent has what it needs',
  agents_paused: 'Every agent is paused',
  agents_at_capacity: 'Every agent is busy',
};

/**
 * The number of the attempt, and how many more there may be. The limit itself grows with attempts
 * that do not count, so it tells people nothing.
 */
export function attemptWords({
  attempt,
  maxAttempts,
  status,
}: Pick<Job, 'attempt' | 'maxAttempts' | 'status'>): string {
  if (status === 'done' || status === 'canceled') return String(attempt);
  return `${attempt}, ${maxAttempts - attempt} left`;
}

/** Whether the job's status is final. */
export function isFinished(status: JobStatus): boolean {
  return status === 'done' || status === 'failed' || status === 'canceled';
}

/** The verdict on the evidence, behind an outcome. */
export const verdictWords = {
  verified: 'verified',
  gaps: 'has gaps',
  unverified: 'not verified',
} as const;
