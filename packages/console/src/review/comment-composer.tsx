import { useMutation } from '@tanstack/react-query';
import { type RefObject, useId, useLayoutEffect, useRef } from 'react';
import { callHub } from '../api/hub-call.ts';
import { classNames } from '../class-names.ts';
import { placeWords } from '../format/review-words.ts';
import { plainText } from '../format/text.ts';
import { Button } from '../parts/form/button.tsx';
import { inputClasses } from '../parts/form/field.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import type { LineRange } from './review-threads.ts';
import type { Review, Writing } from './use-review.ts';

interface CommentComposerProps {
  review: Review;
  writing: Writing;
  /** The text of the lines; null: the patch does not show all of them. */
  lines: string | null;
  /** The range with one line more or less at its end, if there is such a line. */
  longer?: LineRange | undefined;
  shorter?: LineRange | undefined;
}

/** The field in which a person writes a comment, a reply, or a draft again. */
export function CommentComposer(props: CommentComposerProps) {
  const { review, writing, lines, longer, shorter } = props;
  const { range, repliesTo, commentId, text, key } = writing;
  const { workspaceId, jobId } = review.job;
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  useFocusWhileOpen(field);
  const save = useMutation({
    mutationFn: () =>
      callHub('reviewComments', 'save', {
        workspaceId,
        jobId,
        text: text.trim(),
        idempotencyKey: key,
        ...(repliesTo !== undefined && { repliesTo }),
        ...(commentId !== undefined && { commentId }),
        ...(range && { place: { ...range, lines: lines ?? '' } }),
      }),
    onSuccess: async () => {
      await review.refresh();
      review.stop();
    },
  });
  const isReady = text.trim() !== '' && (range === undefined || lines !== null);
  return (
    <form
      aria-label={commentId === undefined ? 'New comment' : 'Edit the draft'}
      className="m-2 grid max-w-3xl min-w-0 grid-cols-[minmax(0,1fr)] gap-2 rounded-lg border bg-surface p-3 font-sans text-sm"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) save.mutate();
      }}
    >
      <label htmlFor={id} className="wrap-anywhere text-muted">
        <Label writing={writing} />
      </label>
      {(longer || shorter) && (
        <div className="flex flex-wrap gap-2">
          {longer && (
            <Button look="quiet" onClick={() => review.compose(longer)}>
              One line more
            </Button>
          )}
          {shorter && (
            <Button look="quiet" onClick={() => review.compose(shorter)}>
              One line less
            </Button>
          )}
        </div>
      )}
      <textarea
        ref={field}
        id={id}
        rows={3}
        value={text}
        onChange={(event) => review.write(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && isReady) save.mutate();
          if (event.key === 'Escape' && text.trim() === '') review.stop();
        }}
        className={classNames(inputClasses, 'h-auto min-h-20 resize-y py-2 pointer-coarse:h-auto')}
      />
      {range && lines === null && (
        <p className="text-xs text-warning">
          The changes do not show all of these lines: choose fewer.
        </p>
      )}
      {save.error && <ErrorNotice error={save.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button look="quiet" onClick={review.stop}>
          Discard
        </Button>
        <Button type="submit" look="primary" busy={save.isPending} disabled={!isReady}>
          Save draft
        </Button>
      </div>
    </form>
  );
}

/** Gives the focus to the field, and at the end back to the line, where the next keys continue. */
function useFocusWhileOpen(field: RefObject<HTMLElement | null>): void {
  const opener = useRef<Element>(null);
  useLayoutEffect(() => {
    const form = field.current?.closest('form');
    opener.current ??= document.activeElement;
    field.current?.focus({ preventScroll: true });
    return () => {
      const isLeft = form?.contains(document.activeElement) === true;
      if (isLeft && opener.current instanceof HTMLElement) {
        opener.current.focus({ preventScroll: true });
      }
    };
  }, [field]);
}

function Label({ writing: { range, repliesTo } }: { writing: Writing }) {
  if (range === undefined) {
    return repliesTo === undefined ? 'Your draft' : 'Your reply, which the next round gets';
  }
  return (
    <>
      Comment on {placeWords(range)} of{' '}
      <span className="font-mono text-xs">{plainText(range.path)}</span>
    </>
  );
}
