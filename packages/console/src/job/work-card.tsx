import type { Job, JobMessage, JobRound, ResponseOf } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useId, useRef, useState } from 'react';
import { type ConsoleRows, callHub } from '../api/hub-call.ts';
import { classNames } from '../class-names.ts';
import { statusWords } from '../format/job-words.ts';
import { randomKey } from '../format/random-key.ts';
import { plainText } from '../format/text.ts';
import { showToast } from '../parts/dialog/toast.ts';
import { viewerReason } from '../parts/form/action-button.tsx';
import { Button } from '../parts/form/button.tsx';
import { inputClasses } from '../parts/form/field.tsx';
import { Panel } from '../parts/record/facts.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { Moment, RelativeTime } from '../parts/text/relative-time.tsx';

/** The rounds of a job and the messages to it, as the hub tells them. */
export type WorkOfJob = Pick<
  ResponseOf<ConsoleRows['jobs']['get']>,
  'rounds' | 'variants' | 'work' | 'messages' | 'takesMessages'
>;

interface WorkCardProps {
  job: Job;
  work: WorkOfJob;
  slug: string;
  role: string;
}

/** The piece of work that a job belongs to: its rounds, the messages, and the next round. */
export function WorkCard({ job, work, slug, role }: WorkCardProps) {
  const { rounds = [], messages = [], takesMessages = false } = work;
  const later = rounds.filter(({ round }) => round > job.round);
  // A round that was canceled continues nothing.
  const isLatest = later.every(({ status }) => status === 'canceled');
  // Nor does a variant that was not chosen.
  const isClosed = work.variants?.some(
    ({ jobId, isChosen }) => isChosen === false && jobId === (job.workJobId ?? job.jobId),
  );
  const mayWrite =
    !job.landsJobId &&
    isLatest &&
    !isClosed &&
    job.status !== 'canceled' &&
    viewerReason(role) === undefined;
  if (rounds.length < 2 && messages.length === 0 && !mayWrite) return null;
  const isEnded = job.status === 'done' || job.status === 'failed';
  return (
    <Panel title={isEnded || !isLatest ? 'Continue this work' : 'Send a message'}>
      {rounds.length > 1 && <Rounds job={job} rounds={rounds} slug={slug} />}
      {messages.length > 0 && (
        <Messages messages={messages} slug={slug} waits={waitText(isEnded, takesMessages)} />
      )}
      {mayWrite && (
        <Composer
          key={job.jobId}
          job={job}
          slug={slug}
          takesMessages={takesMessages}
          nextRound={isEnded ? (later.at(-1) ?? job).round + 1 : null}
        />
      )}
    </Panel>
  );
}

function Rounds({
  job,
  rounds,
  slug,
}: Pick<WorkCardProps, 'job' | 'slug'> & { rounds: readonly JobRound[] }) {
  return (
    <ol aria-label="Rounds" className="flex flex-wrap gap-x-1 gap-y-2 text-sm">
      {rounds.map(({ jobId, round, status }) => (
        <li key={jobId}>
          <Link
            to="/w/$slug/jobs/$jobId"
            params={{ slug, jobId }}
            aria-current={jobId === job.jobId ? 'page' : undefined}
            className={classNames(
              'inline-flex min-h-7 items-center rounded-md px-2 pointer-coarse:min-h-11',
              jobId === job.jobId
                ? 'bg-accent-soft font-medium text-accent'
                : 'text-muted hover:bg-hover',
            )}
          >
            Round {round}, {statusWords[status].toLowerCase()}
          </Link>
        </li>
      ))}
    </ol>
  );
}

/** Says what becomes of a message that is queued. */
function waitText(isEnded: boolean, takesMessages: boolean): string {
  if (isEnded) return 'goes into the next round';
  return takesMessages ? 'waits for the end of this turn' : 'waits for the end of this job';
}

interface MessagesProps {
  messages: readonly JobMessage[];
  slug: string;
  waits: string;
}

function Messages({ messages, slug, waits }: MessagesProps) {
  return (
    <ol aria-label="Messages" className="grid gap-3">
      {messages.map(({ number, text, author, createdAt, deliveredAt, nextJobId }) => (
        <li key={number} className="grid min-w-0 gap-0.5 border-l-3 border-l-accent pl-3">
          <p className="text-sm whitespace-pre-wrap wrap-anywhere">{plainText(text)}</p>
          <p className="text-xs text-muted">
            {plainText(author.name ?? author.id)}, <RelativeTime at={createdAt} />
            {' · '}
            {nextJobId === null && deliveredAt === null && waits}
            {deliveredAt !== null && <Moment word="delivered" at={deliveredAt} />}
            {nextJobId !== null && (
              <Link
                to="/w/$slug/jobs/$jobId"
                params={{ slug, jobId: nextJobId }}
                className="text-accent underline underline-offset-2"
              >
                in the next round
              </Link>
            )}
          </p>
        </li>
      ))}
    </ol>
  );
}

interface ComposerProps extends Pick<WorkCardProps, 'job' | 'slug'> {
  takesMessages: boolean;
  /** Null: the job has not ended, so it gets a message. */
  nextRound: number | null;
}

function Composer({ job, slug, takesMessages, nextRound }: ComposerProps) {
  const { workspaceId, jobId } = job;
  const id = useId();
  const [text, setText] = useState('');
  // Sent again after a lost answer, it is the same message.
  const key = useRef(randomKey());
  const client = useQueryClient();
  const navigate = useNavigate();
  const send = useMutation({
    mutationFn: () =>
      callHub('jobs', 'continue', {
        workspaceId,
        jobId,
        message: text.trim(),
        idempotencyKey: key.current,
      }),
    onSuccess: async ({ job: answered, delivery }) => {
      setText('');
      key.current = randomKey();
      await client.invalidateQueries({ queryKey: ['job', workspaceId, jobId] });
      if (delivery === 'message') return;
      showToast({ title: `Round ${answered.round} is in the queue` });
      await navigate({ to: '/w/$slug/jobs/$jobId', params: { slug, jobId: answered.jobId } });
    },
  });
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') send.mutate();
      }}
    >
      <label htmlFor={id} className="text-sm text-muted">
        {composerHint(nextRound, takesMessages)}
      </label>
      <textarea
        id={id}
        rows={3}
        value={text}
        placeholder={nextRound !== null ? 'Please handle the empty list, too.' : ''}
        onChange={(event) => {
          setText(event.target.value);
          key.current = randomKey();
        }}
        className={classNames(inputClasses, 'h-auto min-h-20 resize-y py-2 pointer-coarse:h-auto')}
      />
      {send.error && <ErrorNotice error={send.error} />}
      <Button
        type="submit"
        look="primary"
        busy={send.isPending}
        disabled={text.trim() === ''}
        className="justify-self-end"
      >
        {nextRound === null ? 'Send' : `Start round ${nextRound}`}
      </Button>
    </form>
  );
}

function composerHint(nextRound: number | null, takesMessages: boolean): string {
  if (nextRound !== null) return 'The next round continues the same branch and the same session.';
  return takesMessages
    ? 'The tool gets it at the end of this turn. If it comes too late for that, it becomes the next round.'
    : 'It becomes the next round when this job is done.';
}
