import type { Job, OutcomeReason, WaitingFor } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { classNames } from '../class-names.ts';
import { waitingWords } from '../format/job-words.ts';
import { Icon, type IconName } from './icon.tsx';
import { LinkedText } from './linked-text.tsx';
import { ScrollBox } from './scroll-box.tsx';

interface WaitingNoteProps {
  slug: string;
  waitingFor: WaitingFor;
  queuePosition: number | null;
}

/** The reason why the job is waiting. */
export function WaitingNote({ slug, waitingFor, queuePosition }: WaitingNoteProps) {
  const { reason, message, jobIds = [] } = waitingFor;
  return (
    <Note
      icon="circle"
      tone="border-line bg-surface"
      signTone="text-muted"
      title={waitingWords[reason]}
    >
      <p className="wrap-anywhere">
        <LinkedText text={message} />
      </p>
      {queuePosition !== null && <p>Position in the queue of its repository: {queuePosition}.</p>}
      {jobIds.length > 0 && (
        <ul className="grid grid-cols-[minmax(0,1fr)]">
          {jobIds.map((jobId) => (
            <li key={jobId}>
              <JobLink slug={slug} jobId={jobId} />
            </li>
          ))}
        </ul>
      )}
    </Note>
  );
}

interface OutcomeLook {
  icon: IconName;
  tone: string;
  signTone: string;
  title: string;
}

const unchangedLook: OutcomeLook = {
  icon: 'alert',
  tone: 'border-warning/30 bg-warning-soft',
  signTone: 'text-warning',
  title: 'The agent reports the job as done, without changes',
};

const outcomeLooks: Readonly<Record<NonNullable<Job['outcome']>, OutcomeLook>> = {
  done: {
    icon: 'checkCircle',
    tone: 'border-done/30 bg-done-soft',
    signTone: 'text-done',
    title: 'The agent reports the job as done',
  },
  failed: {
    icon: 'crossCircle',
    tone: 'border-failed/30 bg-failed-soft',
    signTone: 'text-failed',
    title: 'The attempt failed',
  },
  blocked: {
    icon: 'hand',
    tone: 'border-blocked/30 bg-blocked-soft',
    signTone: 'text-blocked',
    title: 'The agent is blocked',
  },
};

/** The agent's final message, and its reason. */
export function OutcomeNote({ job }: { job: Job }) {
  if (job.outcome === null || (job.message === null && job.outcomeReason === null)) return null;
  const reason = job.outcomeReason === null ? undefined : reasonText(job.outcomeReason);
  return (
    <Note {...(job.changed === false ? unchangedLook : outcomeLooks[job.outcome])}>
      {job.message && (
        <ScrollBox className="max-h-80">
          <LinkedText text={job.message} />
        </ScrollBox>
      )}
      {reason && (
        <p className="wrap-anywhere text-muted">
          <LinkedText text={reason} />
        </p>
      )}
    </Note>
  );
}

function reasonText(reason: OutcomeReason): string {
  if (typeof reason === 'string') return reason;
  const { category, code, summary } = reason;
  return [[category, code].filter(Boolean).join(' · '), summary].filter(Boolean).join(': ');
}

/** A link to another job by its ID. */
export function JobLink({ slug, jobId }: { slug: string; jobId: string }) {
  return (
    <Link
      to="/w/$slug/jobs/$jobId"
      params={{ slug, jobId }}
      className="block w-fit max-w-full truncate py-1 font-mono text-xs text-accent underline underline-offset-2 pointer-coarse:py-3.5"
    >
      {jobId}
    </Link>
  );
}

interface NoteProps {
  icon: IconName;
  tone: string;
  signTone: string;
  title: string;
  children: ReactNode;
}

function Note({ icon, tone, signTone, title, children }: NoteProps) {
  return (
    <section
      className={classNames(
        'grid grid-cols-[minmax(0,1fr)] gap-1.5 rounded-lg border p-4 text-sm',
        tone,
      )}
    >
      <h2 className={classNames('flex items-center gap-2 font-semibold', signTone)}>
        <Icon name={icon} />
        {title}
      </h2>
      {children}
    </section>
  );
}
