import type { Job } from '@signalbox/contract';
import { queryOptions } from '@tanstack/react-query';
import { unlessLive } from '../live/live-state.ts';
import { callHub } from './hub-call.ts';
import { LIVE_REFRESH_MS } from './job-queries.ts';

/** The review comments of the piece of work to which a job belongs. */
export function reviewCommentsQuery({ workspaceId, jobId, workJobId }: Job) {
  return queryOptions({
    queryKey: ['review-comments', workspaceId, workJobId ?? jobId],
    queryFn: ({ signal }) => callHub('reviewComments', 'list', { workspaceId, jobId }, signal),
    refetchInterval: unlessLive(LIVE_REFRESH_MS),
  });
}
