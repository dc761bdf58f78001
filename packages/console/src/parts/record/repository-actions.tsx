import type { Repository } from '@signalbox/contract';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { callHub } from '../../api/hub-call.ts';
import { Modal } from '../dialog/dialog.tsx';
import { ActionButton, viewerReason } from '../form/action-button.tsx';
import { Button } from '../form/button.tsx';
import { TextField } from '../form/field.tsx';
import { ReasonButton } from '../form/reason-button.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';

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
          description="No job of it is handed out until somebody resumes it. Jobs that run continue, and new ones can be enqueued. Other repositories are not touched."
          asksReason
          disabledReason={reason}
          onConfirm={(why) =>
            settle(
              callHub('queue', 'pause', {
                ...{ workspaceId, repoId },
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
            : 'No job of it is handed out any more. Jobs that run continue. Nothing is deleted, and you can make it active again.'
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

function RenameButton({
  label,
  disabledReason,
  onRename,
}: {
  label: string;
  disabledReason: string | undefined;
  onRename: (label: string) => Promise<unknown>;
}) {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState(label);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [isEmpty, setEmpty] = useState(false);
  const changeOpen = (next: boolean) => {
    setOpen(next);
    setText(label);
    setError(undefined);
    setEmpty(false);
  };
  const rename = async () => {
    const next = text.trim();
    setEmpty(next === '');
    if (next === '') return;
    setBusy(true);
    setError(undefined);
    try {
      await onRename(next);
      setOpen(false);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <ActionButton disabledReason={disabledReason} onClick={() => changeOpen(true)}>
        Rename
      </ActionButton>
      <Modal
        open={open}
        onOpenChange={changeOpen}
        title="Rename the repository"
        description="The label is for people. Clones stay linked by the hash of their URL."
      >
        <form
          noValidate
          className="grid gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            void rename();
          }}
        >
          <TextField
            label="Label"
            maxLength={200}
            value={text}
            error={isEmpty ? 'Enter a label.' : undefined}
            onChange={(event) => setText(event.target.value)}
          />
          {error !== undefined && <ErrorNotice error={error} />}
          <div className="mt-1 flex flex-wrap justify-end gap-2">
            <Button onClick={() => changeOpen(false)}>Go back</Button>
            <Button type="submit" look="primary" busy={busy}>
              Rename
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}
