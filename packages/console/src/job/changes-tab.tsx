import type {
  ChangesPlace,
  Job,
  JobReview,
  JobRound,
  PatchBeginning,
  Work,
} from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { jobPatchQuery } from '../api/job-queries.ts';
import { classNames } from '../class-names.ts';
import { commandName } from '../format/command-name.ts';
import { type KnownEvidence, readEvidence } from '../format/evidence.ts';
import { isFinished, statusWords } from '../format/job-words.ts';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';
import { CommentThread } from '../review/comment-thread.tsx';
import { threadsOf } from '../review/review-threads.ts';
import { type Review, refusalOf, useReview } from '../review/use-review.ts';
import { ChangedFiles } from './changed-files.tsx';
import { ChangesElsewhere, RequestState } from './changes-place.tsx';
import { Place } from './evidence-card.tsx';
import { isShownFor, WorkState } from './work-state.tsx';

const PatchReview = lazy(async () => ({
  default: (await import('../review/patch-review.tsx')).PatchReview,
}));

interface ChangesTabProps {
  job: Job;
  rounds: readonly JobRound[] | undefined;
  /** Absent: an older hub. */
  work: Work | undefined;
  /** Absent: an older hub, or a job without a commit. */
  place: ChangesPlace | undefined;
  /** The jobs that review the work. */
  reviews: readonly JobReview[] | undefined;
  slug: string;
  role: string;
  /** Which changes the address asks for. */
  since: PatchBeginning;
}

/** The changes of a job and their review, as far as its agent shares them. The hub has no code. */
export function ChangesTab({ job, rounds = [], work, place, ...more }: ChangesTabProps) {
  const { slug, role, reviews = [], ...asked } = more;
  const refusal = refusalOf(job, rounds, role);
  const hasRound = hasRoundPatch(job);
  const since = hasRound ? asked.since : 'work';
  const review = useReview({ job, slug, rounds, reviews, mayWrite: refusal === undefined, since });
  const evidence = job.evidence && readEvidence(job.evidence);
  if (!evidence || (evidence.files.length === 0 && evidence.commitSha === undefined)) {
    return (
      <p className="rounded-lg border bg-surface p-6 text-center text-sm text-muted">
        {isFinished(job.status)
          ? 'The agent reported no changed files.'
          : 'The changes are here when the agent has completed the job.'}
      </p>
    );
  }
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4 text-sm">
      {work && isShownFor(job, work) && <WorkState {...{ job, work, slug, role }} />}
      <section className="grid min-w-0 gap-2 rounded-lg border bg-surface p-4">
        <Place evidence={evidence} />
        {hasRound && <SinceSwitch review={review} />}
        {reviews.length > 0 && <Reviews reviews={reviews} slug={slug} />}
        {refusal !== undefined && <p className="text-muted">{refusal}</p>}
        {hasPatch(job) && place?.request && <RequestState place={place} />}
      </section>
      <Patch {...{ job, review, role, place }} files={<Files evidence={evidence} />} />
    </div>
  );
}

function Files({ evidence: { files, filesOmitted } }: { evidence: KnownEvidence }) {
  const count = files.length + filesOmitted;
  return (
    <section className="grid min-w-0 gap-2 rounded-lg border bg-surface p-4 sm:p-5">
      <h2 className="font-semibold">
        {count.toLocaleString('en')} changed {count === 1 ? 'file' : 'files'}
        <TotalLines files={files} />
      </h2>
      <ChangedFiles files={files} filesOmitted={filesOmitted} />
    </section>
  );
}

/** The sum over all files, if the agent has sent counts. */
function TotalLines({ files }: { files: KnownEvidence['files'] }) {
  const sumOf = (counts: (number | undefined)[]) =>
    counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  if (files.every(({ added, deleted }) => added === undefined && deleted === undefined)) {
    return null;
  }
  return (
    <span className="ml-2 font-normal tabular-nums">
      <span className="text-done">+{sumOf(files.map(({ added }) => added))}</span>
      <span className="sr-only"> lines added,</span>{' '}
      <span className="text-failed">−{sumOf(files.map(({ deleted }) => deleted))}</span>
      <span className="sr-only"> lines deleted</span>
    </span>
  );
}

/** The jobs that review the work; their findings are on the lines below. */
function Reviews({ reviews, slug }: { reviews: readonly JobReview[]; slug: string }) {
  return (
    <ul aria-label="Reviews of this work" className="flex flex-wrap gap-x-4 gap-y-1">
      {reviews.map(({ jobId, status }) => (
        <li key={jobId} className="flex items-center gap-1.5">
          <Link
            to="/w/$slug/jobs/$jobId"
            params={{ slug, jobId }}
            className="inline-flex min-h-7 items-center text-accent underline underline-offset-2 pointer-coarse:min-h-11"
          >
            Review {jobId.slice(-8)}
          </Link>
          <span className="text-muted">{statusWords[status].toLowerCase()}</span>
        </li>
      ))}
    </ul>
  );
}

function hasPatch({ evidence }: Job): boolean {
  return evidence?.patch !== undefined;
}

/** The agent of a later round shares its own changes, too. */
function hasRoundPatch(job: Job): boolean {
  return hasPatch(job) && job.evidence?.roundPatch !== undefined;
}

/** Chooses between the changes of the work and those of its latest round, in the address. */
function SinceSwitch({ review: { job, rounds, since } }: { review: Review }) {
  // A round that was canceled has changed nothing.
  const before = rounds.findLast(({ round, status }) => round < job.round && status !== 'canceled');
  const words = { work: 'Whole work', round: `Since round ${before?.round ?? job.round - 1}` };
  return (
    <div className="grid gap-1">
      <ul aria-label="Changes shown" className="flex flex-wrap gap-1">
        {(['work', 'round'] as const).map((each) => (
          <li key={each}>
            <Link
              to="."
              search={(now) => ({ ...now, since: each === 'work' ? undefined : each })}
              resetScroll={false}
              aria-current={each === since ? 'true' : undefined}
              className={classNames(
                'inline-flex min-h-7 items-center rounded-md px-2 pointer-coarse:min-h-11',
                each === since
                  ? 'bg-accent-soft font-medium text-accent'
                  : 'text-muted hover:bg-hover',
              )}
            >
              {words[each]}
            </Link>
          </li>
        ))}
      </ul>
      {since === 'round' && (
        <p className="text-xs text-muted">
          Commits that people made before the round are not shown. Deleted lines can be commented on
          only in the whole work.
        </p>
      )}
    </div>
  );
}

interface PatchProps extends Pick<ChangesTabProps, 'job' | 'role' | 'place'> {
  review: Review;
  /** Where there are no changed lines, the names of the files. */
  files: ReactNode;
}

/** The patch, if the repository shares it; else the way to it. */
function Patch({ job, review, ...elsewhere }: PatchProps) {
  const { workspaceId, jobId } = job;
  const isShared = hasPatch(job);
  const query = jobPatchQuery(workspaceId, jobId, review.since);
  // Another upload: the agent has shared it again.
  const queryKey = [...query.queryKey, JSON.stringify(job.evidence?.patch)];
  const read = useQuery({ ...query, queryKey, enabled: isShared });
  if (!isShared) return <NoPatch {...{ job, review, ...elsewhere }} />;
  if (read.isPending) return <SkeletonRows what="the changes" rows={6} height="dense" />;
  if (read.data === undefined) return <ReadFailure read={read} />;
  const { patch, absence, filesOmitted } = read.data;
  if (patch === null) {
    return (
      <NoPatch {...{ job, review, ...elsewhere }}>
        {absence !== null && absenceWords[absence]}
      </NoPatch>
    );
  }
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      {filesOmitted > 0 && (
        <p className="text-muted">
          {filesOmitted.toLocaleString('en')} {filesOmitted === 1 ? 'file is' : 'files are'} not in
          the patch: too large, or with a secret. Where the clone is,{' '}
          <code className="font-mono text-xs">
            {commandName()} job diff {jobId}
            {review.since === 'round' && ' --since-round'}
          </code>{' '}
          shows all.
        </p>
      )}
      <Suspense fallback={<SkeletonRows what="the changes" rows={6} height="dense" />}>
        <PatchReview patch={patch} review={review} />
      </Suspense>
    </div>
  );
}

const absenceWords = {
  not_shared: 'The agent shares no changed lines.',
  deleted: 'Its patch was here, and was deleted.',
  unusable: 'The agent sent no readable patch.',
} as const;

/** The way to the changed lines, the names of the files, and the comments with their lines. */
function NoPatch({ review, files, ...elsewhere }: PatchProps & { children?: ReactNode }) {
  return (
    <>
      <ChangesElsewhere {...elsewhere} />
      {files}
      {threadsOf(review.comments).map((thread) => (
        <CommentThread key={thread.first.commentId} {...{ thread, review }} isElsewhere />
      ))}
    </>
  );
}
