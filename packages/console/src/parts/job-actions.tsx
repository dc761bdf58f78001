import type { Job } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { callHub } from '../api/hub-call.ts';
import { jobQuery } from '../api/job-queries.ts';
import { isFinished } from '../format/job-words.ts';
import { ConfirmButton } from './confirm-button.tsx';

/** The actions that a person can take on a job now; each must be confirmed. */
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
          title="Return the job to the queue?"
          onConfirm={() => act.mutateAsync('retry')}
        >
          An agent will claim it again, with the same prompt. One more attempt is allowed if none
          remain.
        </ConfirmButton>
      )}
      {job.status === 'running' && (
        <ConfirmButton
          label="Release"
          title="Release the job from its agent?"
          onConfirm={() => act.mutateAsync('release')}
        >
          The lease ends now and the job returns to the queue. Further reports of the agent about
          this attempt are rejected. Use this when the machine is no longer available.
        </ConfirmButton>
      )}
      {!isFinished(job.status) && job.cancelRequestedAt === null && (
        <ConfirmButton
          label="Cancel job"
          title="Cancel the job?"
          onConfirm={() => act.mutateAsync('cancel')}
        >
          {job.status === 'running'
            ? 'The agent learns of it with its next heartbeat and stops. Its result will be rejected.'
            : 'It can no longer be claimed. A canceled job stays canceled.'}
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
    // The answer does not include the new waiting reason, so read the job again, even after an
    // error.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries(jobQuery(workspaceId, jobId)),
        client.invalidateQueries({ queryKey: ['jobs', workspaceId] }),
      ]),
  });
}
