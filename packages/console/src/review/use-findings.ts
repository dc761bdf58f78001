import type { ResponseOf } from '@signalbox/contract';
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import type { ConsoleRows } from '../api/hub-call.ts';
import { jobQuery } from '../api/job-queries.ts';
import type { WorkReview } from './review-notes.ts';
import type { Review } from './use-review.ts';

type JobAnswer = ResponseOf<ConsoleRows['jobs']['get']>;

/** The jobs that have reviewed the work, with their findings. */
export function useFindings({ job: { workspaceId }, reviews }: Review): readonly WorkReview[] {
  return useQueries({
    queries: reviews.map(({ jobId }) => jobQuery(workspaceId, jobId)),
    combine: withEvidence,
  });
}

/** The same function each time, so that its result stays the same one while nothing has changed. */
function withEvidence(results: UseQueryResult<JobAnswer>[]): WorkReview[] {
  return results.flatMap(({ data }) => {
    const { jobId, evidence = null } = data?.job ?? { jobId: '' };
    return evidence === null ? [] : [{ jobId, evidence }];
  });
}
