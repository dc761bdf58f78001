import { type JobStatus, jobStatuses } from '@signalbox/contract';

export interface ListFilter {
  status?: JobStatus;
  statuses?: JobStatus[];
  text?: string;
  fromAt?: string;
  workEnded?: boolean;
  kind?: 'pr_review' | 'work';
  repoId?: string;
  runId?: string;
  agentId?: string;
}

/** Combinations of the filters that a list of jobs takes. */
export function listFilters(values: {
  repoId: string;
  agentId: string;
  runId: string | null;
}): ListFilter[] {
  const choices: ListFilter[][] = [
    [
      {},
      ...jobStatuses.map((status) => ({ status })),
      { statuses: ['pending', 'running', 'done'] },
    ],
    [{}, { kind: 'pr_review' }, { kind: 'work' }],
    [{}, { repoId: values.repoId }],
    [{}, { agentId: values.agentId }],
    values.runId === null ? [{}] : [{}, { runId: values.runId }],
  ];
  const combined = choices.reduce<ListFilter[]>(
    (made, next) => made.flatMap((filter) => next.map((more) => ({ ...filter, ...more }))),
    [{}],
  );
  // The conditions of these three do not depend on the others, so some combinations are enough.
  const some = combined.filter((_, at) => at % 7 === 0);
  const fromAt = new Date(0).toISOString();
  return [
    ...combined,
    ...some.flatMap((filter) => [
      { ...filter, workEnded: false },
      { ...filter, text: 'a' },
      { ...filter, fromAt },
    ]),
  ];
}
