import type { Evidence, Job } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense } from 'react';
import { jobPatchQuery } from '../api/job-queries.ts';
import { commandName } from '../format/command-name.ts';
import { readEvidence } from '../format/evidence.ts';
import { isFinished } from '../format/job-words.ts';
import { Command } from '../parts/form/copy-button.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';
import { ChangedFiles } from './changed-files.tsx';
import { Place } from './evidence-card.tsx';

const PatchView = lazy(async () => ({ default: (await import('./patch-view.tsx')).PatchView }));

/** The changes of a job, as far as its agent shares them. The hub has no code. */
export function ChangesTab({ job }: { job: Job }) {
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
  const { files, filesOmitted } = evidence;
  const count = files.length + filesOmitted;
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4 text-sm">
      <section className="grid min-w-0 gap-4 rounded-lg border bg-surface p-4 sm:p-5">
        <Place evidence={evidence} />
        <div className="grid min-w-0 gap-2">
          <h2 className="font-semibold">
            {count.toLocaleString('en')} changed {count === 1 ? 'file' : 'files'}
            <TotalLines files={files} />
          </h2>
          <ChangedFiles files={files} filesOmitted={filesOmitted} />
        </div>
      </section>
      <Patch job={job} />
    </div>
  );
}

/** The sum over all files, if the agent has sent counts. */
function TotalLines({ files }: { files: ReturnType<typeof readEvidence>['files'] }) {
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

/** The patch, if the repository shares it; else the way to it. */
function Patch({ job }: { job: Job }) {
  const { workspaceId, jobId } = job;
  const evidence: Evidence & { patch?: unknown } = job.evidence ?? {};
  const isShared = evidence.patch !== undefined;
  const read = useQuery({ ...jobPatchQuery(workspaceId, jobId), enabled: isShared });
  if (!isShared) {
    return (
      <NoPatch jobId={jobId}>
        To see the changed lines here, set <code className="font-mono text-xs">share.changes</code>{' '}
        to <code className="font-mono text-xs">patch</code> in the configuration of the agent. Where
        the clone is, this command shows them:
      </NoPatch>
    );
  }
  if (read.isPending) return <SkeletonRows what="the changes" rows={6} height="dense" />;
  if (read.data === undefined) return <ReadFailure read={read} />;
  const { patch, absence, filesOmitted } = read.data;
  if (patch === null)
    return <NoPatch jobId={jobId}>{absenceWords[absence ?? 'not_shared']}</NoPatch>;
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      <Suspense fallback={<SkeletonRows what="the changes" rows={6} height="dense" />}>
        <PatchView patch={patch} />
      </Suspense>
      {filesOmitted > 0 && (
        <NoPatch jobId={jobId}>
          {filesOmitted.toLocaleString('en')} {filesOmitted === 1 ? 'file is' : 'files are'} not in
          the patch: too large, or with a secret. Where the clone is, this command shows all:
        </NoPatch>
      )}
    </div>
  );
}

const absenceWords = {
  not_shared: 'The agent shares no changed lines. Where the clone is, this command shows them:',
  deleted: 'The patch was deleted. Where the clone is, this command shows the changes:',
  unusable: 'The agent sent no readable patch. Where the clone is, this command shows the changes:',
} as const;

function NoPatch({ jobId, children }: { jobId: string; children: ReactNode }) {
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2 text-muted">
      <p>{children}</p>
      <Command text={`${commandName()} job diff ${jobId}`} />
    </div>
  );
}
