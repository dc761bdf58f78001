import { type Attachment, isJobBase, type Job } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { activityQuery } from '../../api/activity-queries.ts';
import { type ActivityView, contextWords, viewActivity } from '../../format/activity.ts';
import { readEvidence } from '../../format/evidence.ts';
import { attemptWords, kindWords } from '../../format/job-words.ts';
import { plainText } from '../../format/text.ts';
import { formatDuration } from '../../format/time.ts';
import { toolWords } from '../../format/tool-words.ts';
import { usageByModel, usageWords } from '../../format/usage-words.ts';
import { CopyId } from '../form/copy-button.tsx';
import { RelativeTime, useNow } from '../text/relative-time.tsx';
import { Facts } from './facts.tsx';
import { JobLink } from './job-notes.tsx';
import { AgentLink, RepositoryLink, RunLink } from './record-links.tsx';

interface JobFactsProps {
  job: Job;
  slug: string;
  repositoryLabel: string;
  agentName: string | null;
}

/** The known facts of a job, one per line; those that do not apply are skipped. */
export function JobFacts({ job, slug, repositoryLabel, agentName }: JobFactsProps) {
  const { workspaceId, agentId, runId } = job;
  const { usage, session } = useLatestActivity(job);
  const used = job.usage ?? usage;
  return (
    <Facts
      rows={[
        [
          'Repository',
          repositoryLabel && (
            <RepositoryLink key="repo" slug={slug} name={repositoryLabel} repoId={job.repoId} />
          ),
        ],
        ['Run', runId && <RunLink key="run" workspaceId={workspaceId} slug={slug} runId={runId} />],
        ['Kind', kindWords[job.kind]],
        ['Role', plainText(job.role)],
        ['Priority', job.priority],
        ['Attempt', attemptWords(job)],
        [
          'Agent',
          agentId && agentName && (
            <AgentLink key="agent" slug={slug} name={agentName} agentId={agentId} />
          ),
        ],
        ['Tool', toolWords(job)],
        ['Lease ends', job.status === 'running' ? timeOf(job.leaseExpiresAt) : null],
        ['Cancel requested', timeOf(job.cancelRequestedAt)],
        ['Created', timeOf(job.createdAt)],
        ['Started', timeOf(job.startedAt)],
        ['Finished', timeOf(job.finishedAt)],
        ['Duration', job.startedAt && <Took key="took" from={job.startedAt} to={job.finishedAt} />],
        ['Concurrency', job.concurrencyKey && plainText(job.concurrencyKey)],
        ['Attachments', job.attachments && <FileNames key="files" files={job.attachments} />],
        ['Usage', used && <UsageFact key="usage" usage={used} />],
        ['Context', usage && contextWords(usage)],
        [
          'Session',
          session && <CopyId key="session" id={plainText(session.sessionId)} what="session ID" />,
        ],
        ['Parent', job.parentJobId && <JobLink key="parent" slug={slug} jobId={job.parentJobId} />],
        [
          'Depends on',
          job.dependsOn.length > 0 ? <JobLinks key="needs" slug={slug} job={job} /> : null,
        ],
        ['Builds on', baseOf(slug, job)],
      ]}
    />
  );
}

function FileNames({ files }: { files: readonly Attachment[] }) {
  return (
    <ul className="grid gap-0.5">
      {files.map(({ uploadId, fileName }) => (
        <li key={uploadId} className="wrap-anywhere">
          {plainText(fileName)}
        </li>
      ))}
    </ul>
  );
}

/** The use of tokens so far and the session of the latest attempt. */
function useLatestActivity({ workspaceId, jobId, attempt, status }: Job): ActivityView {
  const log = { workspaceId, jobId, attempt };
  const query = activityQuery(log, status === 'running');
  const { data } = useQuery({ ...query, enabled: attempt > 0 });
  return useMemo(() => viewActivity(data ?? []), [data]);
}

function timeOf(at: string | null) {
  return at && <RelativeTime key={at} at={at} />;
}

/** The time from start to end, or until now for a running job. */
function Took({ from, to }: { from: string; to: string | null }) {
  const text = useNow((nowMs) =>
    formatDuration(Math.max(0, (to === null ? nowMs : Date.parse(to)) - Date.parse(from))),
  );
  return <span className="tabular-nums">{text}</span>;
}

function JobLinks({ slug, job }: { slug: string; job: Job }) {
  return (
    <ul className="grid grid-cols-[minmax(0,1fr)]">
      {job.dependsOn.map((jobId) => (
        <li key={jobId}>
          <JobLink slug={slug} jobId={jobId} />
        </li>
      ))}
    </ul>
  );
}

const SHA_CHARS = 12;

/** The base of a job, as its agent has found it, or as the job names it. */
function baseOf(slug: string, { evidence, base }: Job) {
  const { buildsOn } = readEvidence(evidence ?? {});
  if (buildsOn === undefined) {
    if (base === undefined) return null;
    return isJobBase(base) ? <JobLink key="base" slug={slug} jobId={base} /> : plainText(base);
  }
  const { branch, commitSha, jobs } = buildsOn;
  const commit = (sha: string | undefined) =>
    sha === undefined ? null : (
      <code className="font-mono text-xs">{plainText(sha.slice(0, SHA_CHARS))}</code>
    );
  if (jobs.length === 0) {
    return (
      <span key="base">
        {branch === undefined ? 'commit' : plainText(branch)} {commit(commitSha)}
      </span>
    );
  }
  return (
    <ul key="base" className="grid grid-cols-[minmax(0,1fr)]">
      {jobs.map(({ jobId, commitSha: sha }) => (
        <li key={jobId}>
          <JobLink slug={slug} jobId={plainText(jobId)} />
          {commit(sha)}
        </li>
      ))}
    </ul>
  );
}

/** The model, the tokens and the cost; and those of each model, if there were several. */
function UsageFact({ usage }: { usage: NonNullable<Job['usage']> }) {
  const byModel = usageByModel(usage);
  return (
    <span className="grid gap-1">
      {usage.model !== undefined && <span>{plainText(usage.model)}</span>}
      <span>{usageWords(usage)}</span>
      {byModel.length > 0 && (
        <ul aria-label="Usage by model" className="grid gap-1 border-l-2 pl-2.5 text-xs">
          {byModel.map(({ model, used }) => (
            <li key={model} className="grid">
              <span>{model}</span>
              <span className="text-muted">{used}</span>
            </li>
          ))}
        </ul>
      )}
    </span>
  );
}
