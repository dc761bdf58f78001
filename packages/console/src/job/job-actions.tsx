import type { Job } from '@signalbox/contract';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import {
  actionsOf,
  actionWords,
  branchOf,
  checkoutCommandOf,
  type DialogName,
  type JobAction,
} from '../format/job-actions.ts';
import { useKeys } from '../keys/use-keys.ts';
import { showToast } from '../parts/dialog/toast.ts';
import { ActionButton, viewerReason } from '../parts/form/action-button.tsx';
import { buttonClasses } from '../parts/form/button.tsx';
import { lazyMenu, MenuButton } from '../parts/form/menu-button.tsx';
import { Icon } from '../parts/page/icon.tsx';

const JobDialog = lazy(async () => ({ default: (await import('./job-dialogs.tsx')).JobDialog }));
const { Popup, preload } = lazyMenu(
  async () => (await import('./job-menu-popup.tsx')).JobMenuPopup,
);

/** The actions that move work on; the others stop it. */
const forward: readonly JobAction[] = ['answer', 'retry', 'checkout', 'continue'];

/** The right action of a job, and a menu with the others. */
export function JobActions({ job, slug, role }: { job: Job; slug: string; role: string }) {
  const [dialog, setDialog] = useState<DialogName>();
  const navigate = useNavigate();
  const actions = actionsOf(job);
  const reason = viewerReason(role);
  const act = (action: JobAction) => {
    if (action === 'checkout')
      return void copyText(checkoutCommandOf(branchOf(job.evidence) ?? ''));
    if (action === 'answer' || action === 'continue') {
      const hash = action === 'answer' ? 'decision' : 'continue';
      return void navigate({ to: '.', search: {}, hash, resetScroll: false });
    }
    if (action === 'duplicate') {
      return void navigate({
        to: '/w/$slug/jobs/new',
        params: { slug },
        search: { from: job.jobId },
      });
    }
    setDialog(action);
  };
  const mayAct = (action: JobAction) => reason === undefined && actions.includes(action);
  useKeys([
    ...(mayAct('retry')
      ? [{ keys: 'r', label: 'Retry', group: 'Job', act: () => act('retry') }]
      : []),
    ...(mayAct('edit')
      ? [{ keys: 'e', label: 'Edit the prompt and retry', group: 'Job', act: () => act('edit') }]
      : []),
    ...(mayAct('duplicate')
      ? [{ keys: 'd', label: 'Duplicate the job', group: 'Job', act: () => act('duplicate') }]
      : []),
    {
      keys: 'y',
      label: 'Copy the job ID',
      group: 'Job',
      act: () => void copyText(job.jobId),
    },
  ]);
  const [first, ...others] = actions;
  if (first === undefined) return null;
  return (
    <div className="flex shrink-0 items-start gap-1.5">
      <ActionButton
        look={forward.includes(first) ? 'primary' : 'plain'}
        disabledReason={first === 'checkout' || first === 'answer' ? undefined : reason}
        onClick={() => act(first)}
      >
        {actionWords[first]}
      </ActionButton>
      {others.length > 0 && (
        <MenuButton
          label="More actions"
          preload={preload}
          className={buttonClasses('plain', 'w-8 px-0 pointer-coarse:w-11')}
          popup={(state) => (
            <Popup actions={others} disabledReason={reason} onAction={act} {...state} />
          )}
        >
          <Icon name="ellipsis" />
        </MenuButton>
      )}
      {dialog !== undefined && (
        <Suspense fallback={null}>
          <JobDialog job={job} name={dialog} onClose={() => setDialog(undefined)} />
        </Suspense>
      )}
    </div>
  );
}

async function copyText(text: string): Promise<void> {
  try {
    // Outside a secure context (plain http, not loopback) the browser has no clipboard.
    await (navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard')));
    showToast({ title: 'Copied', detail: text });
  } catch {
    showToast({ title: 'The browser did not allow copying', detail: text, tone: 'bad' });
  }
}
