import { useMemo, useState } from 'react';
import { countWords } from '../format/review-words.ts';
import { Button } from '../parts/form/button.tsx';
import { useWide } from '../parts/page/use-wide.ts';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import { FileTree } from './file-tree.tsx';
import { hideWhiteSpace, type ReviewFile, readReviewFiles } from './review-files.ts';
import { ReviewList } from './review-list.tsx';
import { notesByLine, placeFindings } from './review-notes.ts';
import { rowsOf, withComposer } from './review-rows.ts';
import { placeThreads, threadsOf } from './review-threads.ts';
import { SendDialog } from './send-dialog.tsx';
import { useFindings } from './use-findings.ts';
import type { Review } from './use-review.ts';
import { fileAt } from './use-review-keys.ts';
import { useViewed } from './use-viewed.ts';

/** Longer files are folded at first. */
const FILE_LINES_OPEN = 5_000;

/** The changes of a job line by line, with the comments on them. */
export function PatchReview({ patch, review }: { patch: string; review: Review }) {
  const { job, comments, writing, since } = review;
  const isWide = useWide();
  const [wantsSplit, setSplit] = useState(false);
  const [hidesSpace, setHidesSpace] = useState(false);
  const [currentKey, setCurrentKey] = useState<string>();
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const { viewed, setViewed } = useViewed(job.jobId);
  const isSplit = wantsSplit && isWide;
  const whole = useMemo(() => readReviewFiles(patch), [patch]);
  const files = useMemo(
    () => (hidesSpace ? whole.map(hideWhiteSpace) : whole),
    [whole, hidesSpace],
  );
  const notes = useMemo(
    () =>
      notesByLine(
        job.evidence ?? {},
        files.map(({ path }) => path),
      ),
    [job.evidence, files],
  );
  const reviews = useFindings(review);
  const findings = useMemo(
    () => placeFindings(reviews, job.evidence?.commitSha, files),
    [reviews, job.evidence, files],
  );
  const placed = useMemo(
    () => placeThreads({ jobId: job.jobId, since }, threadsOf(comments), files),
    [job.jobId, since, comments, files],
  );
  // A text on a side that is not in sight waits there.
  const composed =
    writing?.range?.side === 'base' && since === 'round' ? undefined : writing?.range;
  const lines = useMemo(() => {
    const isOpen = (file: ReviewFile) =>
      opened.get(file.id) ??
      (!viewed.has(file.id) && !file.isGenerated && file.lineCount <= FILE_LINES_OPEN);
    return rowsOf({ files, isOpen, isSplit, placed, notes, findings });
  }, [files, opened, viewed, isSplit, placed, notes, findings]);
  const rows = useMemo(() => withComposer(lines, composed), [lines, composed]);
  const setOpen = ({ id }: ReviewFile, isOpen: boolean) =>
    setOpened((before) => new Map(before).set(id, isOpen));
  const current = rows.findIndex(({ key }) => key === currentKey);
  const tree = (
    <FileTree
      files={files}
      viewed={viewed}
      currentId={fileAt(rows, current)?.id}
      onChoose={(file) => setCurrentKey(`file:${file.id}`)}
    />
  );
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[15rem_minmax(0,1fr)]">
      {isWide ? (
        <div className="sticky top-4 max-h-[calc(100dvh-2rem)] overflow-y-auto">{tree}</div>
      ) : (
        <details className="min-w-0 rounded-lg border bg-surface px-3">
          <summary className="flex min-h-11 cursor-pointer items-center text-sm">
            {countWords(files.length, 'file')}
          </summary>
          <div className="pb-3">{tree}</div>
        </details>
      )}
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2">
        <div className="flex flex-wrap items-center gap-2 bg-canvas py-2 lg:sticky lg:top-0 lg:z-10">
          <Progress review={review} files={files} viewed={viewed} />
          {isWide && (
            <Button onClick={() => setSplit(!wantsSplit)}>
              {isSplit ? 'One column' : 'Side by side'}
            </Button>
          )}
          <Button onClick={() => setHidesSpace(!hidesSpace)}>
            {hidesSpace ? 'Show white space' : 'Hide white space'}
          </Button>
          {isWide && <SendButton review={review} />}
        </div>
        {review.readError !== null && review.readError !== undefined && (
          <ErrorNotice error={review.readError} />
        )}
        <ReviewList
          {...{ review, files, rows, isSplit, viewed, currentKey }}
          onCurrent={setCurrentKey}
          onOpen={setOpen}
          onViewed={(file, isViewed) => {
            setViewed(file, isViewed);
            setOpen(file, !isViewed);
          }}
        />
        {/* On a phone, a bar that stays in sight would hide what it is about. */}
        {!isWide && <SendButton review={review} />}
      </div>
    </div>
  );
}

interface ProgressProps {
  review: Review;
  files: readonly ReviewFile[];
  viewed: ReadonlySet<string>;
}

function Progress({ review, files, viewed }: ProgressProps) {
  const open = threadsOf(review.comments).filter(
    ({ first }) => first.number !== null && first.resolvedAt === null,
  ).length;
  const viewedCount = files.filter(({ id }) => viewed.has(id)).length;
  return (
    <p role="status" className="mr-auto text-sm text-muted">
      {viewedCount} of {countWords(files.length, 'file')} viewed
      {open > 0 && ` · ${countWords(open, 'open thread')}`}
    </p>
  );
}

/** Sends the drafts, after a look at them. */
function SendButton({ review }: { review: Review }) {
  const [isSending, setSending] = useState(false);
  const drafts = review.comments.filter(({ number }) => number === null).length;
  if (!review.mayWrite || drafts === 0) return null;
  return (
    <>
      <Button look="primary" onClick={() => setSending(true)}>
        Send {countWords(drafts, 'comment')}
      </Button>
      {isSending && <SendDialog review={review} onClose={() => setSending(false)} />}
    </>
  );
}
