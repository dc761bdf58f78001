import type { Job } from '@signalbox/contract';
import { readEvidence } from '../format/evidence.ts';
import { isFinished } from '../format/job-words.ts';
import { ChangedFiles } from './changed-files.tsx';
import { Place } from './evidence-card.tsx';

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
    <section className="grid min-w-0 gap-4 rounded-lg border bg-surface p-4 text-sm sm:p-5">
      <Place evidence={evidence} />
      <div className="grid min-w-0 gap-2">
        <h2 className="font-semibold">
          {count.toLocaleString('en')} changed {count === 1 ? 'file' : 'files'}
        </h2>
        <ChangedFiles files={files} filesOmitted={filesOmitted} />
      </div>
      <p className="text-xs text-muted">
        The code stays where the agent runs. To read the changes, check out the branch there.
      </p>
    </section>
  );
}
