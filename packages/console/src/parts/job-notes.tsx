import type { WaitingFor } from '@signalbox/contract';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { classNames } from '../class-names.ts';
import { waitingWords } from '../format/job-words.ts';
import { Icon, type IconName } from './icon.tsx';
import { LinkedText } from './linked-text.tsx';

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
      icon="clock"
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
