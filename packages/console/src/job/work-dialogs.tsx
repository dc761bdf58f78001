import type { Job, Work } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, type RefObject, useId, useRef, useState } from 'react';
import { callHub } from '../api/hub-call.ts';
import { classNames } from '../class-names.ts';
import { randomKey } from '../format/random-key.ts';
import { type Conflicts, rebaseMessage } from '../format/work-words.ts';
import { ConfirmDialog } from '../parts/dialog/confirm-dialog.tsx';
import { FormModal } from '../parts/dialog/form-modal.tsx';
import { showToast } from '../parts/dialog/toast.ts';
import { inputClasses } from '../parts/form/field.tsx';
import { Missing } from './work-missing.tsx';

export type WorkDialogName = 'approve' | 'land' | 'close' | 'rebase';

interface WorkDialogProps {
  job: Job;
  work: Work;
  slug: string;
  conflicts: Conflicts | null;
  name: WorkDialogName;
  /** The button of the next step, and the part of the page around it: they get the focus. */
  main: RefObject<HTMLButtonElement | null>;
  section: RefObject<HTMLElement | null>;
  onClose: () => void;
}

/** Asks before a step of a piece of work, and takes it. */
export function WorkDialog(props: WorkDialogProps) {
  const { job, work, conflicts, name, main, section, onClose } = props;
  const client = useQueryClient();
  const key = useRef(randomKey());
  const { workspaceId } = job;
  const { jobId } = work;
  const finalFocus = () => main.current ?? section.current;
  if (name === 'approve') return <OverrideDialog {...props} finalFocus={finalFocus} />;
  if (name === 'rebase') {
    return conflicts && <RebaseDialog {...props} conflicts={conflicts} finalFocus={finalFocus} />;
  }
  const isLand = name === 'land';
  const act = async () => {
    try {
      if (isLand) {
        await callHub('works', 'land', { workspaceId, jobId, idempotencyKey: key.current });
      } else await callHub('works', 'close', { workspaceId, jobId });
    } finally {
      await client.invalidateQueries({ queryKey: ['job', workspaceId] });
    }
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      label={isLand ? 'Land' : 'Close the work'}
      title={isLand ? 'Land the approved commit?' : 'Close the work?'}
      confirmLook={isLand ? 'primary' : 'danger'}
      finalFocus={finalFocus}
      onConfirm={act}
    >
      <p>
        {isLand
          ? 'Its agent brings the commit into the base branch of the repository, as it is ' +
            'configured, and runs the checks on the combined result first.'
          : 'It leaves the lists. Its branch stays, and a round that continues it opens it again.'}
      </p>
    </ConfirmDialog>
  );
}

type FormDialogProps = WorkDialogProps & { finalFocus: () => HTMLElement | null };

/** Approves although something is missing, with the reason and the name of who decides. */
function OverrideDialog({ job, work, onClose, finalFocus }: FormDialogProps) {
  const { workspaceId } = job;
  const { jobId, commitSha, missing } = work;
  const client = useQueryClient();
  const [override, setOverride] = useState('');
  const approve = useMutation({
    mutationFn: () =>
      callHub('works', 'approve', {
        workspaceId,
        jobId,
        commitSha: commitSha ?? '',
        ...(override.trim() !== '' && { override: override.trim() }),
      }),
    onSettled: () => client.invalidateQueries({ queryKey: ['job', workspaceId] }),
    onSuccess: onClose,
  });
  return (
    <FormDialog
      title="Approve although something is missing?"
      description="Your reason is kept with your name, and shown to everybody."
      label="Reason"
      submit="Approve anyway"
      text={override}
      setText={setOverride}
      act={approve}
      {...{ onClose, finalFocus }}
    >
      <Missing missing={missing} />
    </FormDialog>
  );
}

/** Continues the work with the message that asks to resolve its conflicts. */
function RebaseDialog(props: FormDialogProps & { conflicts: Conflicts }) {
  const { job, work, slug, conflicts, onClose, finalFocus } = props;
  const { workspaceId } = job;
  const [message, setMessage] = useState(() => rebaseMessage(conflicts));
  const key = useRef(randomKey());
  const navigate = useNavigate();
  const send = useMutation({
    mutationFn: () =>
      callHub('jobs', 'continue', {
        workspaceId,
        jobId: work.jobId,
        message: message.trim(),
        idempotencyKey: key.current,
      }),
    onSuccess: async ({ job: { round, jobId } }) => {
      onClose();
      showToast({ title: `Round ${round} is in the queue` });
      await navigate({ to: '/w/$slug/jobs/$jobId', params: { slug, jobId } });
    },
  });
  return (
    <FormDialog
      title="Resolve the conflicts"
      description="The next round continues the same branch. Its result needs an approval of its own."
      label="Message"
      submit="Start the round"
      text={message}
      setText={(text) => {
        setMessage(text);
        key.current = randomKey();
      }}
      act={send}
      {...{ onClose, finalFocus }}
    />
  );
}

interface FormDialogParts {
  title: string;
  description: string;
  label: string;
  submit: string;
  text: string;
  setText: (text: string) => void;
  act: { mutate: () => void; isPending: boolean; error: Error | null };
  onClose: () => void;
  finalFocus: () => HTMLElement | null;
  children?: ReactNode;
}

function FormDialog(props: FormDialogParts) {
  const { title, description, label, submit, text, setText, act, onClose, finalFocus } = props;
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  return (
    <FormModal
      initialFocus={field}
      {...{ title, description, submit, act, finalFocus, onClose }}
      isDisabled={text.trim() === ''}
      onSubmit={() => text.trim() !== '' && act.mutate()}
    >
      {props.children}
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <textarea
        ref={field}
        id={id}
        rows={3}
        maxLength={2_000}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className={classNames(inputClasses, 'h-auto min-h-20 resize-y py-2 pointer-coarse:h-auto')}
      />
    </FormModal>
  );
}
