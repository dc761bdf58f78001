import type { Job } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { servingAgentsQuery } from '../api/fleet-queries.ts';
import { callHub } from '../api/hub-call.ts';
import { randomKey } from '../format/random-key.ts';
import { plainText } from '../format/text.ts';
import { toolsOffered } from '../format/tool-words.ts';
import { draftOfJob, type EnqueueRequest, requestOf } from '../new-job/job-draft.ts';
import { type ToolChoice, ToolFields } from '../new-job/tool-fields.tsx';
import { Modal } from '../parts/dialog/dialog.tsx';
import { showToast } from '../parts/dialog/toast.ts';
import { Button } from '../parts/form/button.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';

/**
 * Enqueues a job that is done once more, for another tool or model. The result of this one stays.
 */
export function ElsewhereDialog({ job, onClose }: { job: Job; onClose: () => void }) {
  const { workspaceId, repoId } = job;
  const [chosen, setChosen] = useState<ToolChoice>();
  const { data } = useQuery(servingAgentsQuery(workspaceId, repoId));
  const agents = data?.agents ?? [];
  const other = toolsOffered(agents, repoId).find(({ name }) => name !== job.tool);
  const { tool, model } = chosen ?? { tool: other?.name ?? '', model: '' };
  const names = agents
    .filter((agent) => toolsOffered([agent], repoId).some(({ name }) => !tool || name === tool))
    .map(({ displayName, agentId }) => plainText(displayName || agentId))
    .sort();
  const made = requestOf(workspaceId, { ...draftOfJob(job), tool, model });
  const retry = useEnqueueElsewhere(job, onClose);
  const online =
    names.length === 0 ? 'No online agent has it yet.' : `Online: ${names.join(', ')}.`;
  const fault = Object.values(made.faults ?? {}).join(' ');
  return (
    <Modal
      open
      onOpenChange={(open) => !open && onClose()}
      title="Retry elsewhere"
      description="A new job with the same prompt and limits. The result of this one stays."
    >
      <ToolFields {...{ workspaceId, repoId, tool, model }} onChange={setChosen} />
      <p className="text-sm text-muted">{fault || online}</p>
      {retry.error && <ErrorNotice error={retry.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Go back</Button>
        <Button
          look="primary"
          busy={retry.isPending}
          disabled={made.request === null}
          onClick={() => made.request && retry.mutate(made.request)}
        >
          Enqueue
        </Button>
      </div>
    </Modal>
  );
}

function useEnqueueElsewhere({ workspaceId }: Job, onDone: () => void) {
  const client = useQueryClient();
  const navigate = useNavigate();
  // Sent again after a lost answer, it is the same job.
  const key = useRef(randomKey());
  return useMutation({
    mutationFn: (request: EnqueueRequest) =>
      callHub('jobs', 'enqueue', { ...request, idempotencyKey: key.current }),
    onSuccess: ({ jobId }) => {
      onDone();
      showToast({ title: 'Enqueued' });
      void client.invalidateQueries({ queryKey: ['jobs', workspaceId] });
      void navigate({
        to: '/w/$slug/jobs/$jobId',
        from: '/w/$slug/jobs/$jobId',
        params: { jobId },
      });
    },
  });
}
