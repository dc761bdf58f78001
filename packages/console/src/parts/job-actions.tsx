import type { Job } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { callHub } from '../api/hub-call.ts';
import { jobQuery } from '../api/job-queries.ts';
import { isFinished } from '../format/job-words.ts';
import { ConfirmButton } from './confirm-button.tsx';

/** What a person can do with a job now, each asked about first. */
export function JobActions({ job }: { job: Job }) {
  const act = useJobAction(job);
  const mayRetry = job.status === 'failed' || job.status === 'blocked';
  return (
    <div className="flex shrink-0 flex-wrap gap-2">
      {mayRetry && (
        <ConfirmButton
          label="Retry"
          look="primary"
          confirmLook="primary"
          title="Put the job back in the queue?"
          onConfirm={() => act.mutateAsync('retry')}
        >
          An agent will claim it again, with the same prompt. One more attempt is allowed if none
          remain.
        </ConfirmButton>
      )}
      {job.status === 'running' && (
        <ConfirmButton
          label="Release"
          title="Take the job from its agent?"
          onConfirm={() => act.mutateAsync('release')}
        >
          The lease ends now and the job goes back to the queue. Whatever the agent still reports
          about this attempt is refused. Use it when the machine is gone.
        </ConfirmButton>
      )}
      {!isFinished(job.status) && job.cancelRequestedAt === null && (
        <ConfirmButton
          label="Cancel job"
          title="Cancel the job?"
          onConfirm={() => act.mutateAsync('cancel')}
        >
          {job.status === 'running'
            ? 'The agent hears of it with its next heartbeat and stops. Its work is not accepted any more.'
            : 'It will not be claimed any more. A canceled job stays canceled.'}
        </ConfirmButton>
      )}
    </div>
  );
}

function useJobAction({ workspaceId, jobId }: Job) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (action: 'cancel' | 'retry' | 'release') =>
      callHub('jobs', action, { workspaceId, jobId }),
    // The answer does not say why the job waits now: it is read again, also after a refusal.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries(jobQuery(workspaceId, jobId)),
        client.invalidateQueries({ queryKey: ['jobs', workspaceId] }),
      ]),
  });
}
