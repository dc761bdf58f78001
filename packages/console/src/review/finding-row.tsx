import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callHub } from '../api/hub-call.ts';
import { randomKey } from '../format/random-key.ts';
import { plainText } from '../format/text.ts';
import { Button } from '../parts/form/button.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import type { ReviewFile } from './review-files.ts';
import type { LineNote } from './review-notes.ts';
import { linesOf } from './review-threads.ts';
import type { Review } from './use-review.ts';

interface FindingRowProps {
  note: LineNote;
  review: Review;
  files: readonly ReviewFile[];
}

/** The words of a check or a review on a line. One press makes them a draft of a comment. */
export function FindingRow({ note, review, files }: FindingRowProps) {
  const { source, text, review: found } = note;
  return (
    <div className="grid gap-1 border-l-3 border-l-warning bg-warning-soft px-3 py-1.5 font-sans text-xs">
      <p className="min-w-0 wrap-anywhere">
        <span className="font-medium text-warning">{plainText(source)}</span>
        {found?.place != null && ` ${plainText(found.place)}`}
        {found?.isOutdated && (
          <span className="font-medium"> · outdated: found in another commit</span>
        )}
        {found?.place == null ? ' ' : <br />}
        {plainText(text)}
      </p>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 empty:hidden">
        {found && (
          <Link
            to="/w/$slug/jobs/$jobId"
            params={{ slug: review.slug, jobId: found.jobId }}
            className="inline-flex min-h-7 items-center text-accent underline underline-offset-2 pointer-coarse:min-h-11"
          >
            Review {found.jobId.slice(-8)}
          </Link>
        )}
        <MakeDraft {...{ note, review, files }} />
      </div>
    </div>
  );
}

/** A finding whose line is in sight can go to the next round as a comment. */
function MakeDraft({ note: { range, text }, review, files }: FindingRowProps) {
  const { workspaceId, jobId } = review.job;
  const lines = range === undefined ? null : linesOf(files, range);
  // Sent again after a lost answer, it is the same comment.
  const [idempotencyKey] = useState(randomKey);
  const save = useMutation({
    mutationFn: async () => {
      if (range === undefined || lines === null) return;
      const place = { ...range, lines };
      await callHub('reviewComments', 'save', { workspaceId, jobId, place, text, idempotencyKey });
    },
    onSuccess: review.refresh,
  });
  const isThere = review.comments.some(
    (each) => each.path === range?.path && each.startLine === range.startLine && each.text === text,
  );
  if (lines === null || isThere || !review.takesComments('result')) return null;
  return (
    <>
      <Button look="quiet" busy={save.isPending} onClick={() => save.mutate()}>
        Make it a comment
      </Button>
      {save.error && <ErrorNotice error={save.error} />}
    </>
  );
}
