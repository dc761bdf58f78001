import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useRef, useState } from 'react';
import { callHub } from '../api/hub-call.ts';
import { classNames } from '../class-names.ts';
import { randomKey } from '../format/random-key.ts';
import { countWords } from '../format/review-words.ts';
import { plainText } from '../format/text.ts';
import { Modal } from '../parts/dialog/dialog.tsx';
import { showToast } from '../parts/dialog/toast.ts';
import { Button } from '../parts/form/button.tsx';
import { inputClasses } from '../parts/form/field.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import type { Review } from './use-review.ts';

/** Sends the drafts of all members as one round. */
export function SendDialog({ review, onClose }: { review: Review; onClose: () => void }) {
  const { workspaceId, jobId } = review.job;
  const drafts = review.comments.filter(({ number }) => number === null);
  const authors = new Set(drafts.map(({ author }) => plainText(author.name ?? author.id)));
  const id = useId();
  const [message, setMessage] = useState('');
  const key = useRef(randomKey());
  const navigate = useNavigate();
  const send = useMutation({
    mutationFn: () =>
      callHub('jobs', 'continue', {
        workspaceId,
        jobId,
        idempotencyKey: key.current,
        commentIds: drafts.map(({ commentId }) => commentId),
        ...(message.trim() !== '' && { message: message.trim() }),
      }),
    onSuccess: async ({ job }) => {
      await review.refresh();
      showToast({ title: `Round ${job.round} is in the queue` });
      await navigate({
        to: '/w/$slug/jobs/$jobId',
        params: { slug: review.slug, jobId: job.jobId },
      });
    },
    // A draft was sent or removed meanwhile: the list tells which are left.
    onError: review.refresh,
  });
  const words = countWords(drafts.length, 'comment');
  return (
    <Modal
      open
      onOpenChange={onClose}
      title={`Send ${words}`}
      description={`By ${[...authors].join(', ')}. The next round continues the same branch, and answers each of them.`}
    >
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate();
        }}
      >
        <label htmlFor={id} className="text-sm font-medium">
          Message, if there is more to say
        </label>
        <textarea
          id={id}
          rows={3}
          value={message}
          onChange={(event) => {
            setMessage(event.target.value);
            key.current = randomKey();
          }}
          className={classNames(
            inputClasses,
            'h-auto min-h-20 resize-y py-2 pointer-coarse:h-auto',
          )}
        />
        {send.error && <ErrorNotice error={send.error} />}
        <Button
          type="submit"
          look="primary"
          busy={send.isPending}
          disabled={drafts.length === 0}
          className="justify-self-end"
        >
          Start the round
        </Button>
      </form>
    </Modal>
  );
}
