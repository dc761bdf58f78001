import type { Job, JobStatus, Work } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { callHub } from '../api/hub-call.ts';
import { classNames } from '../class-names.ts';
import { isFinished, statusWords } from '../format/job-words.ts';
import { plainText } from '../format/text.ts';
import { conflictsOf, type WorkLook, workLookOf, workWords } from '../format/work-words.ts';
import { useKeys } from '../keys/use-keys.ts';
import { showToast } from '../parts/dialog/toast.ts';
import { ActionButton, viewerReason } from '../parts/form/action-button.tsx';
import { Icon, type IconName } from '../parts/page/icon.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { LinkedText } from '../parts/text/linked-text.tsx';
import { RelativeTime } from '../parts/text/relative-time.tsx';
import type { WorkDialogName } from './work-dialogs.tsx';
import { Missing } from './work-missing.tsx';

const WorkDialog = lazy(async () => ({ default: (await import('./work-dialogs.tsx')).WorkDialog }));

const SHA_CHARS = 12;

interface WorkStateProps {
  job: Job;
  work: Work;
  slug: string;
  role: string;
}

/** The state of the piece of work, what it lacks, and how it ends: approve, land, close. */
export function WorkState({ job, work, slug, role }: WorkStateProps) {
  const look = workLookOf(work);
  const reason = viewerReason(role);
  const section = useRef<HTMLElement>(null);
  const main = useRef<HTMLButtonElement>(null);
  const [dialog, setDialog] = useState<WorkDialogName>();
  const approve = useApprove(work, job.workspaceId);
  useFocusAfter(look, section, main);
  const conflicts = conflictsOf(work, job.evidence);
  const isInReview = look === 'in_review' || look === 'approved';
  const mayLand = look === 'approved' && !lacksSince(work);
  const begin = () => {
    if (mayLand) setDialog('land');
    else if (work.missing.length > 0) setDialog('approve');
    else approve.mutate();
  };
  const step = mayLand
    ? { keys: 'l', label: 'Land the work', group: 'Job', act: begin }
    : { keys: 'a', label: 'Approve the work', group: 'Job', act: begin };
  useKeys(isInReview && reason === undefined ? [step] : []);
  return (
    <section
      ref={section}
      tabIndex={-1}
      aria-labelledby="work"
      className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border bg-surface p-4 text-sm sm:p-5"
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h2 id="work" className="font-semibold">
          Work
        </h2>
        <span role="status" aria-label="State of the work" className="inline-flex">
          <WorkBadge look={look} />
        </span>
        <div className="ml-auto flex flex-wrap justify-end gap-2">
          {isInReview && conflicts !== null && (
            <ActionButton disabledReason={reason} onClick={() => setDialog('rebase')}>
              Resolve the conflicts
            </ActionButton>
          )}
          {isInReview && (
            <ActionButton
              ref={main}
              look="primary"
              busy={approve.isPending}
              disabledReason={reason}
              onClick={begin}
            >
              {mayLand ? landWord(work) : approveWord(work)}
            </ActionButton>
          )}
          {mayClose(work, job, look) && (
            <ActionButton look="quiet" disabledReason={reason} onClick={() => setDialog('close')}>
              Close
            </ActionButton>
          )}
        </div>
      </div>
      <Told work={work} look={look} slug={slug} />
      {approve.error && <ErrorNotice error={approve.error} />}
      {dialog !== undefined && (
        <Suspense fallback={null}>
          <WorkDialog
            {...{ job, work, slug, conflicts, name: dialog, main, section }}
            onClose={() => setDialog(undefined)}
          />
        </Suspense>
      )}
    </section>
  );
}

/** It is on the page of the latest round, when that has ended. */
export function isShownFor({ jobId, status }: Job, work: Work): boolean {
  return jobId === work.jobId && (work.state !== 'open' || isFinished(status));
}

/** Something has come up since the approval, so the hub does not land it. */
function lacksSince({ approval, missing }: Work): boolean {
  return approval?.override === null && missing.length > 0;
}

function approveWord({ approval }: Work): string {
  return approval === null ? 'Approve' : 'Approve again';
}

function landWord({ landing }: Work): string {
  return landing === null ? 'Land' : 'Land again';
}

function mayClose({ state }: Work, { status }: Job, look: WorkLook): boolean {
  if (state === 'landed' || state === 'closed' || look === 'landing') return false;
  return isFinished(status);
}

function useApprove({ jobId, commitSha }: Work, workspaceId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      callHub('works', 'approve', { workspaceId, jobId, commitSha: commitSha ?? '' }),
    onSuccess: () => showToast({ title: 'Approved' }),
    // After a refusal, what is missing may have changed.
    onSettled: () => client.invalidateQueries({ queryKey: ['job', workspaceId] }),
  });
}

/** Of a control that has gone with the state, the focus goes to the next step. */
function useFocusAfter(
  look: WorkLook,
  section: React.RefObject<HTMLElement | null>,
  main: React.RefObject<HTMLButtonElement | null>,
): void {
  const isInside = useRef(false);
  useEffect(() => {
    const follow = ({ target }: Event) => {
      isInside.current = target instanceof Node && section.current?.contains(target) === true;
    };
    document.addEventListener('focusin', follow);
    return () => document.removeEventListener('focusin', follow);
  }, [section]);
  const shown = useRef(look);
  useEffect(() => {
    if (shown.current === look) return;
    shown.current = look;
    if (isInside.current && document.activeElement === document.body) {
      (main.current ?? section.current)?.focus();
    }
  }, [look, section, main]);
}

/** The words and acts of people and agents, in sentences. */
function Told({ work, look, slug }: { work: Work; look: WorkLook; slug: string }) {
  const { approval, missing, landing, landed } = work;
  return (
    <>
      {look === 'open' && (
        <p className="text-muted">It can be approved when a round is done with a commit.</p>
      )}
      {look === 'in_review' && work.verdict === 'unverified' && (
        <p className="text-muted">Nothing has checked it: approve what you have seen.</p>
      )}
      {(look === 'in_review' || lacksSince(work)) && missing.length > 0 && (
        <Missing missing={missing} />
      )}
      {approval !== null && look !== 'open' && <Approval approval={approval} />}
      {landing !== null && look !== 'landed' && look !== 'open' && (
        <Landing landing={landing} slug={slug} />
      )}
      {landed !== null && look === 'landed' && <Landed landed={landed} />}
      {look === 'closed' && (
        <p className="text-muted">It is not in the lists. A round that continues it opens it.</p>
      )}
    </>
  );
}

function Approval({ approval }: { approval: NonNullable<Work['approval']> }) {
  const { by, at, commitSha, override } = approval;
  const who = plainText(by.name ?? by.id);
  return (
    <div className="grid min-w-0 gap-1">
      <p className="wrap-anywhere">
        Approved by <span className="font-medium">{who}</span> <RelativeTime at={at} />, commit{' '}
        <Sha sha={commitSha} />
      </p>
      {override !== null && (
        <p className="min-w-0 border-l-3 border-l-warning pl-3 wrap-anywhere">
          {who} decided it, although something was missing: {plainText(override)}
        </p>
      )}
    </div>
  );
}

const landingWords: Readonly<Record<JobStatus, string>> = {
  ...statusWords,
  pending: 'The landing is in the queue.',
  running: 'The agent lands it.',
  blocked: 'The landing waits for an answer.',
  done: 'The landing is done.',
  failed: 'The landing failed.',
  canceled: 'The landing was canceled.',
};

function Landing({ landing, slug }: { landing: NonNullable<Work['landing']>; slug: string }) {
  const { jobId, status, conflicts, reason } = landing;
  const isBad = status === 'failed';
  return (
    <div
      className={classNames(
        'grid min-w-0 gap-1 rounded-md px-3 py-2',
        isBad ? 'bg-failed-soft' : 'bg-well',
      )}
    >
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className={isBad ? 'font-medium text-failed' : 'font-medium'}>
          {landingWords[status]}
        </span>
        <Link
          to="/w/$slug/jobs/$jobId"
          params={{ slug, jobId }}
          className="inline-flex min-h-6 items-center text-accent underline underline-offset-2 pointer-coarse:min-h-11"
        >
          Open the landing
        </Link>
      </p>
      {isBad && reason !== null && (
        <p className="wrap-anywhere whitespace-pre-wrap">{plainText(reason)}</p>
      )}
      {conflicts !== null && (
        <ul aria-label="Files with conflicts" className="grid min-w-0 font-mono text-xs">
          {conflicts.files.map((file) => (
            <li key={file} className="wrap-anywhere">
              {plainText(file)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Landed({ landed }: { landed: NonNullable<Work['landed']> }) {
  const { into, commitSha, at, by, pullRequestUrl } = landed;
  return (
    <div className="grid min-w-0 gap-1">
      <p className="wrap-anywhere">
        {commitSha === null ? 'Pull request into ' : 'Landed in '}
        <span className="font-mono text-xs">{plainText(into)}</span>
        {commitSha !== null && (
          <>
            {' '}
            as <Sha sha={commitSha} />
          </>
        )}{' '}
        by {by === null ? 'its agent' : plainText(by.name ?? by.id)}, <RelativeTime at={at} />
      </p>
      {pullRequestUrl !== null && (
        <p className="min-w-0 wrap-anywhere">
          <LinkedText text={pullRequestUrl} />
        </p>
      )}
    </div>
  );
}

function Sha({ sha }: { sha: string }): ReactNode {
  return (
    <code className="font-mono text-xs" title={plainText(sha)}>
      {plainText(sha.slice(0, SHA_CHARS))}
    </code>
  );
}

const looks: Readonly<Record<WorkLook, { icon: IconName; tone: string }>> = {
  open: { icon: 'circle', tone: 'border border-line text-pending' },
  in_review: { icon: 'eye', tone: 'bg-attention-soft text-attention' },
  approved: { icon: 'check', tone: 'bg-done-soft text-done' },
  landing: { icon: 'circle-play', tone: 'bg-running-soft text-running' },
  landed: { icon: 'circle-check', tone: 'bg-done-soft text-done' },
  closed: { icon: 'archive', tone: 'bg-canceled-soft text-canceled' },
};

function WorkBadge({ look }: { look: WorkLook }) {
  const { icon, tone } = looks[look];
  return (
    <span
      className={classNames(
        'inline-flex h-6 items-center gap-1 rounded-full pr-2.5 pl-1.5 text-xs font-medium whitespace-nowrap',
        tone,
      )}
    >
      <Icon name={icon} />
      {workWords[look]}
    </span>
  );
}
