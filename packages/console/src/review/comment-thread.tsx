import type { ReviewComment } from '@signalbox/contract';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { callHub } from '../api/hub-call.ts';
import { classNames } from '../class-names.ts';
import { answerWords, fateWords, isContradicted, placeWords } from '../format/review-words.ts';
import { plainText } from '../format/text.ts';
import { Button } from '../parts/form/button.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { Markdown } from '../parts/text/markdown.tsx';
import { RelativeTime } from '../parts/text/relative-time.tsx';
import { CommentComposer } from './comment-composer.tsx';
import type { Thread } from './review-threads.ts';
import type { Review } from './use-review.ts';

interface CommentThreadProps {
  thread: Thread;
  review: Review;
  /** Its lines are not in sight, so they are quoted. */
  isElsewhere: boolean;
}

/** A comment on lines with what the tool and git say of it, and the replies. */
export function CommentThread({
  thread: { first, replies },
  review,
  isElsewhere,
}: CommentThreadProps) {
  const isResolved = first.resolvedAt !== null;
  const isDraft = first.number === null;
  const { writing } = review;
  return (
    <section
      aria-label={`Comment on ${first.path}, ${placeWords(first)}`}
      className={classNames(
        'm-2 grid max-w-3xl min-w-0 grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border bg-surface p-3 font-sans text-sm',
        isResolved && 'opacity-80',
      )}
    >
      {isElsewhere && <Quote comment={first} />}
      {[first, ...replies].map((comment) =>
        writing?.commentId === comment.commentId ? (
          <CommentComposer key="edit" review={review} writing={writing} lines={null} />
        ) : (
          <OneComment key={comment.commentId} comment={comment} review={review} />
        ),
      )}
      {writing?.repliesTo === first.commentId && (
        <CommentComposer review={review} writing={writing} lines={null} />
      )}
      {review.mayWrite && !isDraft && writing?.repliesTo !== first.commentId && (
        <div className="flex flex-wrap gap-2">
          <Button look="quiet" onClick={() => review.reply(first)}>
            Reply
          </Button>
          <ResolveButton comment={first} review={review} />
        </div>
      )}
      {isResolved && first.resolvedBy && (
        <p className="text-xs text-muted">
          Resolved by {plainText(first.resolvedBy.name ?? first.resolvedBy.id)}
        </p>
      )}
    </section>
  );
}

/** The lines as they were when the comment was written. */
function Quote({ comment }: { comment: ReviewComment }) {
  const { fate, path } = comment;
  return (
    <div className="grid min-w-0 gap-1">
      <p className="text-xs wrap-anywhere text-muted">
        <span className="font-mono">{plainText(path)}</span>, {placeWords(comment)}
        {fate?.state === 'outdated' ? ': these lines are not in the result any more' : ''}
      </p>
      <pre className="max-h-40 overflow-auto rounded-md bg-well p-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere">
        {plainText(comment.lines)}
      </pre>
    </div>
  );
}

function OneComment({ comment, review }: { comment: ReviewComment; review: Review }) {
  const { text, author, createdAt, number, answer, fate } = comment;
  const isDraft = number === null;
  const isOwn = author.id === review.personId;
  return (
    <article className="grid min-w-0 gap-1.5">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
        <span className="font-medium text-ink">{plainText(author.name ?? author.id)}</span>
        <RelativeTime at={createdAt} />
        {isDraft ? <Pill tone="warning">Draft</Pill> : <SentIn comment={comment} review={review} />}
      </p>
      <Markdown text={text} />
      {isDraft && isOwn && <DraftButtons comment={comment} review={review} />}
      {answer && (
        <div className="grid min-w-0 gap-1 border-l-3 border-l-control pl-3">
          <p className="text-xs font-medium">{answerWords[answer.word]}</p>
          {answer.note !== '' && <Markdown text={answer.note} />}
        </div>
      )}
      {fate && (
        <p className="flex flex-wrap items-center gap-2 text-xs">
          <Pill tone={isContradicted(comment) ? 'warning' : 'plain'}>{fateWords[fate.state]}</Pill>
          {isContradicted(comment) && (
            <span className="text-warning">The tool says that it has changed them.</span>
          )}
        </p>
      )}
    </article>
  );
}

function SentIn({ comment, review }: { comment: ReviewComment; review: Review }) {
  const { number, sentInJobId } = comment;
  const round = review.rounds.find(({ jobId }) => jobId === sentInJobId)?.round;
  return (
    <>
      <span>#{number}</span>
      {sentInJobId !== null && (
        // In a sentence: its own box would be a target that is too small.
        <span>
          <Link
            to="/w/$slug/jobs/$jobId"
            params={{ slug: review.slug, jobId: sentInJobId }}
            search={{ tab: 'changes' }}
            className="text-accent underline underline-offset-2"
          >
            {round === undefined ? 'sent' : `sent in round ${round}`}
          </Link>
        </span>
      )}
    </>
  );
}

function DraftButtons({ comment, review }: { comment: ReviewComment; review: Review }) {
  const { commentId } = comment;
  const { workspaceId } = review.job;
  const remove = useMutation({
    mutationFn: () => callHub('reviewComments', 'remove', { workspaceId, commentId }),
    onSuccess: review.refresh,
  });
  return (
    <div className="flex flex-wrap gap-2">
      <Button look="quiet" onClick={() => review.edit(comment)}>
        <Icon name="pencil" />
        Edit
      </Button>
      <Button look="quiet" busy={remove.isPending} onClick={() => remove.mutate()}>
        <Icon name="x" />
        Remove
      </Button>
      {remove.error && <ErrorNotice error={remove.error} />}
    </div>
  );
}

function ResolveButton({ comment, review }: { comment: ReviewComment; review: Review }) {
  const { workspaceId } = review.job;
  const isResolved = comment.resolvedAt !== null;
  const resolve = useMutation({
    mutationFn: () =>
      callHub('reviewComments', 'resolve', {
        workspaceId,
        commentId: comment.commentId,
        isResolved: !isResolved,
      }),
    onSuccess: review.refresh,
  });
  return (
    <>
      <Button look="quiet" busy={resolve.isPending} onClick={() => resolve.mutate()}>
        <Icon name={isResolved ? 'rotate-ccw' : 'check'} />
        {isResolved ? 'Open again' : 'Resolve'}
      </Button>
      {resolve.error && <ErrorNotice error={resolve.error} />}
    </>
  );
}

const pillTones = {
  plain: 'bg-hover text-muted',
  warning: 'bg-warning-soft text-warning',
} as const;

function Pill({ tone, children }: { tone: keyof typeof pillTones; children: string }) {
  return (
    <span className={classNames('rounded-sm px-1.5 py-0.5 font-medium', pillTones[tone])}>
      {children}
    </span>
  );
}
