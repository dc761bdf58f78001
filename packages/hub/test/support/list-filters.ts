import { type JobStatus, jobStatuses } from '@signalbox/contract';

export interface ListFilter {
  status?: JobStatus;
  kind?: 'pr_review' | 'work';
  repoId?: string;
  runId?: string;
  agentId?: string;
}

/** Every combination of the filters that a list of jobs takes. */
export function listFilters(values: {
  repoId: string;
  agentId: string;
  runId: string | null;
}): ListFilter[] {
  const choices: ListFilter[][] = [
    [{}, ...jobStatuses.map((status) => ({ status }))],
    [{}, { kind: 'pr_review' }, { kind: 'work' }],
    [{}, { repoId: values.repoId }],
    [{}, { agentId: values.agentId }],
    values.runId === null ? [{}] : [{}, { runId: values.runId }],
  ];
  return choices.reduce<ListFilter[]>(
    (made, next) => made.flatMap((filter) => next.map((more) => ({ ...filter, ...more }))),
    [{}],
  );
}
