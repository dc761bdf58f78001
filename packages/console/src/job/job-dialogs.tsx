import type { Job } from '@signalbox/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { callHub } from '../api/hub-call.ts';
import { jobQuery, openQuestionsQuery } from '../api/job-queries.ts';
import type { DialogName } from '../format/job-actions.ts';
import { plainText } from '../format/text.ts';
import { draftOfJob } from '../new-job/job-draft.ts';
import { ToolFields } from '../new-job/tool-fields.tsx';
import { ConfirmDialog } from '../parts/dialog/confirm-dialog.tsx';
import { FormModal } from '../parts/dialog/form-modal.tsx';
import { ElsewhereDialog } from './elsewhere-dialog.tsx';

interface JobDialogProps {
  job: Job;
  name: DialogName;
  onClose: () => void;
}

/** Asks before an action on a job, and carries it out. */
export function JobDialog({ job, name, onClose }: JobDialogProps) {
  const act = useJobAction(job);
  if (name === 'edit') return <EditDialog job={job} act={act} onClose={onClose} />;
  if (name === 'elsewhere') return <ElsewhereDialog job={job} onClose={onClose} />;
  const { label, title, look, text } = confirmations[name];
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      label={label}
      title={title}
      confirmLook={look}
      onConfirm={() => act({ action: name })}
    >
      {name === 'retry' && <OpenQuestion job={job} />}
      <p>{text(job)}</p>
    </ConfirmDialog>
  );
}

interface Confirmation {
  label: string;
  title: string;
  look: 'primary' | 'danger';
  text: (job: Job) => ReactNode;
}

const confirmations: Readonly<Record<Exclude<DialogName, 'edit' | 'elsewhere'>, Confirmation>> = {
  retry: {
    label: 'Retry',
    title: 'Return the job to the queue?',
    look: 'primary',
    text: () =>
      'An agent will claim it again, with the same prompt. One more attempt is allowed if none remain.',
  },
  release: {
    label: 'Release',
    title: 'Release the job from its agent?',
    look: 'danger',
    text: () =>
      'The lease ends now and the job returns to the queue. Further reports of the agent about ' +
      'this attempt are rejected. Use this when the machine is no longer available.',
  },
  cancel: {
    label: 'Cancel job',
    title: 'Cancel the job?',
    look: 'danger',
    text: ({ status }) =>
      status === 'running'
        ? 'The agent learns of it with its next heartbeat and stops. Its result will be rejected.'
        : 'It can no longer be claimed. A canceled job stays canceled.',
  },
};

interface ActCall {
  action: Exclude<DialogName, 'edit' | 'elsewhere'>;
  prompt?: string;
  /** Of a retry; null: as any agent has it. */
  tool?: string | null;
  model?: string | null;
}

type Act = (call: ActCall) => Promise<unknown>;

function EditDialog({ job, act, onClose }: { job: Job; act: Act; onClose: () => void }) {
  const [prompt, setPrompt] = useState(job.prompt);
  const before = draftOfJob(job);
  const [choice, setChoice] = useState({ tool: before.tool, model: before.model });
  const isOther = choice.tool !== before.tool || choice.model !== before.model;
  const promptRef = useRef<HTMLTextAreaElement>(null);
  const retry = useMutation({
    mutationFn: () =>
      act({
        action: 'retry',
        prompt,
        ...(isOther && { tool: choice.tool || null, model: choice.model || null }),
      }),
    onSuccess: onClose,
  });
  const isEmpty = prompt.trim() === '';
  return (
    <FormModal
      initialFocus={promptRef}
      title="Edit and retry"
      description="The next attempt gets this prompt, tool and model. The timeline keeps the previous prompt."
      className="sm:w-[min(48rem,calc(100vw-2rem))]"
      submit="Retry"
      act={retry}
      isDisabled={isEmpty}
      onSubmit={() => retry.mutate()}
      onClose={onClose}
    >
      <OpenQuestion job={job} />
      <textarea
        ref={promptRef}
        aria-label="Prompt"
        required
        rows={12}
        value={prompt}
        onChange={(event) => setPrompt(event.target.value)}
        onKeyDown={(event) => {
          const isSend = event.key === 'Enter' && (event.metaKey || event.ctrlKey);
          if (isSend && !isEmpty && !retry.isPending) retry.mutate();
        }}
        className="max-h-[50dvh] w-full resize-y rounded-md border border-control/60 bg-canvas px-3 py-2 font-mono text-[0.78125rem] leading-[1.125rem]"
      />
      {typeof job.requirements !== 'string' && (
        <ToolFields
          workspaceId={job.workspaceId}
          repoId={job.repoId}
          tool={choice.tool}
          model={choice.model}
          onChange={setChoice}
        />
      )}
    </FormModal>
  );
}

/** Names the open question that a retry passes over. */
function OpenQuestion({ job }: { job: Job }) {
  const { data } = useQuery(openQuestionsQuery(job.workspaceId, job.jobId));
  const question = data?.uncertainties[0];
  if (question === undefined) return null;
  return (
    <div className="grid gap-1 rounded-lg border-l-3 border-attention bg-attention-soft px-3 py-2 text-sm text-ink">
      <p className="font-medium text-attention">The agent asked, and waits for an answer:</p>
      <p className="max-h-40 overflow-auto whitespace-pre-wrap wrap-anywhere">
        {plainText(question.title)}
      </p>
      <p className="text-muted">
        A retry begins without an answer. The question stays open, here and in the inbox.
      </p>
    </div>
  );
}

function useJobAction({ workspaceId, jobId }: Job): Act {
  const client = useQueryClient();
  const { mutateAsync } = useMutation({
    mutationFn: ({ action, prompt, tool, model }: ActCall) =>
      action === 'retry'
        ? callHub('jobs', 'retry', {
            workspaceId,
            jobId,
            ...(prompt === undefined ? {} : { prompt }),
            ...(tool === undefined ? {} : { tool }),
            ...(model === undefined ? {} : { model }),
          })
        : callHub('jobs', action, { workspaceId, jobId }),
    // The answer does not include the new waiting reason, so read the job again, even after an
    // error.
    onSettled: () =>
      Promise.all([
        client.invalidateQueries(jobQuery(workspaceId, jobId)),
        client.invalidateQueries({ queryKey: ['jobs', workspaceId] }),
        client.invalidateQueries({ queryKey: ['job-log', workspaceId, jobId] }),
      ]),
  });
  return mutateAsync;
}
