import type { Repository } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { FormModal } from '../dialog/form-modal.tsx';
import { ActionButton, viewerReason } from '../form/action-button.tsx';
import { TextField } from '../form/field.tsx';
import { findEmptyFault, foundFaults, useFormFields } from '../form/form-fields.ts';
import { ReasonButton } from '../form/reason-button.tsx';

const workspace = getRouteApi('/w/$slug');

/** The actions of a person on a repository: rename, pause, archive. */
export function RepositoryActions({ repo }: { repo: Repository }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, repoId, remoteUrlHash } = repo;
  const reason = viewerReason(membership.role);
  const settle = useSettle(workspaceId);
  const upsert = (change: { label?: string; status?: Repository['status'] }) =>
    settle(callHub('repositories', 'upsert', { workspaceId, remoteUrlHash, ...change }));
  const isArchived = repo.status === 'archived';
  return (
    <div className="flex flex-wrap items-start gap-2">
      <RenameButton
        label={repo.label}
        disabledReason={reason}
        onRename={(label) => upsert({ label })}
      />
      {repo.queuePausedAt === null ? (
        <ReasonButton
          label="Pause"
          title="Pause the queue of this repository?"
          description="Its jobs are not handed out until somebody resumes it. Running jobs continue, and new ones can be enqueued. Other repositories are not affected."
          asksReason
          disabledReason={reason}
          onConfirm={(why) =>
            settle(
              callHub('queue', 'pause', {
                workspaceId,
                repoId,
                ...(why !== undefined && { reason: why }),
              }),
            )
          }
        />
      ) : (
        <ReasonButton
          label="Resume"
          title="Resume the queue of this repository?"
          description="Agents get its waiting jobs again."
          look="primary"
          disabledReason={reason}
          onConfirm={() => settle(callHub('queue', 'resume', { workspaceId, repoId }))}
        />
      )}
      <ReasonButton
        label={isArchived ? 'Make active' : 'Archive'}
        title={isArchived ? 'Make this repository active?' : 'Archive this repository?'}
        description={
          isArchived
            ? 'Agents get its waiting jobs again.'
            : 'Its jobs are not handed out any more. Running jobs continue. Nothing is deleted, and you can make it active again.'
        }
        confirmLook={isArchived ? 'primary' : 'danger'}
        disabledReason={reason}
        onConfirm={() => upsert({ status: isArchived ? 'active' : 'archived' })}
      />
    </div>
  );
}

/** Waits for a change, and reads again what it may have changed. */
function useSettle(workspaceId: string) {
  const client = useQueryClient();
  return async (change: Promise<unknown>): Promise<void> => {
    try {
      await change;
    } finally {
      await Promise.all([
        client.invalidateQueries({ queryKey: ['repositories', workspaceId] }),
        client.invalidateQueries({ queryKey: ['pauses', workspaceId] }),
        client.invalidateQueries({ queryKey: ['jobs', workspaceId] }),
      ]);
    }
  };
}

interface RenameProps {
  label: string;
  onRename: (label: string) => Promise<unknown>;
}

function RenameButton(props: RenameProps & { disabledReason: string | undefined }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <ActionButton disabledReason={props.disabledReason} onClick={() => setOpen(true)}>
        Rename
      </ActionButton>
      {open && <RenameDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function RenameDialog({ label, onRename, onClose }: RenameProps & { onClose: () => void }) {
  const rename = useMutation({ mutationFn: onRename, onSuccess: onClose });
  const fields = useFormFields({
    initial: { label },
    check: ({ label: text }) => foundFaults({ label: findEmptyFault(text, 'a label') }),
    act: rename,
    send: ({ label: text }) => rename.mutate(text.trim()),
  });
  return (
    <FormModal
      title="Rename the repository"
      description="The label is for people. Clones stay linked by the hash of their URL."
      submit="Rename"
      act={{ ...rename, error: fields.failure }}
      form={fields.form}
      onClose={onClose}
    >
      <TextField label="Label" maxLength={200} {...fields.bind('label')} />
    </FormModal>
  );
}
