import type { Job, ResponseOf } from '@signalbox/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ConsoleRows } from '../api/hub-call.ts';
import { hasCode } from '../api/hub-error.ts';
import { agentsQuery, jobQuery, repositoriesQuery } from '../api/job-queries.ts';
import { plainText } from '../format/text.ts';
import { Button } from '../parts/button.tsx';
import { CopyId } from '../parts/copy-button.tsx';
import { EndState } from '../parts/end-state.tsx';
import { ErrorNotice } from '../parts/error-notice.tsx';
import { Evidence } from '../parts/evidence.tsx';
import { Panel } from '../parts/facts.tsx';
import { Icon } from '../parts/icon.tsx';
import { JobActions } from '../parts/job-actions.tsx';
import { JobFacts } from '../parts/job-facts.tsx';
import { OutcomeNote, WaitingNote } from '../parts/job-notes.tsx';
import { JobTimeline } from '../parts/job-timeline.tsx';
import { LinkedText } from '../parts/linked-text.tsx';
import { Loading } from '../parts/loading.tsx';
import { usePageTitle } from '../parts/page-title.ts';
import { StatusBadge } from '../parts/status-badge.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/jobs/$jobId');

/** A longer prompt is folded, so that the timeline stays visible. */
const PROMPT_FOLD_CHARS = 1_500;

/** One job: its status and the reason for it, its prompt, and its results. */
export function JobPage() {
  const { membership } = workspace.useRouteContext();
  const { slug, jobId } = route.useParams();
  const read = useQuery(jobQuery(membership.workspaceId, jobId));
  const title = read.data ? plainText(read.data.job.title) || jobId : jobId;
  usePageTitle(title);
  return (
    <div className="mx-auto grid max-w-6xl grid-cols-[minmax(0,1fr)] gap-4">
      <Link
        to="/w/$slug/jobs"
        params={{ slug }}
        className="inline-flex h-8 items-center gap-1 justify-self-start rounded-md text-sm text-muted hover:text-ink pointer-coarse:h-11"
      >
        <Icon name="arrowLeft" />
        All jobs
      </Link>
      {read.isPending && <Loading what="the job" />}
      {hasCode(read.error, 'JOB_NOT_FOUND') && <JobNotFound />}
      {read.isError && !hasCode(read.error, 'JOB_NOT_FOUND') && (
        <ErrorNotice
          error={read.error}
          action={<Button onClick={() => read.refetch()}>Try again</Button>}
        />
      )}
      {read.data && !hasCode(read.error, 'JOB_NOT_FOUND') && (
        <JobView title={title} {...read.data} />
      )}
    </div>
  );
}

type JobViewProps = Omit<ResponseOf<ConsoleRows['jobs']['get']>, 'ok'> & { title: string };

function JobView({ title, job, queuePosition, waitingFor }: JobViewProps) {
  const { membership } = workspace.useRouteContext();
  const repositories = useQuery(repositoriesQuery(membership.workspaceId));
  const nameOfAgent = useAgentNames(job);
  const repository = repositories.data?.repos.find((repo) => repo.repoId === job.repoId);
  return (
    <>
      <JobHeader title={title} job={job} mayAct={membership.role !== 'viewer'} />
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="grid min-w-0 gap-4">
          {waitingFor && (
            <WaitingNote
              slug={membership.slug}
              waitingFor={waitingFor}
              queuePosition={queuePosition}
            />
          )}
          <OutcomeNote job={job} />
          {job.evidence && (
            <Panel title="Evidence">
              <Evidence evidence={job.evidence} changed={job.changed} />
            </Panel>
          )}
          <Panel title="Prompt">
            <Prompt text={job.prompt} />
          </Panel>
          <Panel title="Timeline">
            <JobTimeline job={job} nameOfAgent={(agentId) => plainText(nameOfAgent(agentId))} />
          </Panel>
        </div>
        <aside className="grid min-w-0 gap-4">
          <Panel title="Details">
            <JobFacts
              job={job}
              slug={membership.slug}
              repositoryLabel={plainText(repository?.label || job.repoId)}
              agentName={job.agentId && plainText(nameOfAgent(job.agentId))}
            />
          </Panel>
        </aside>
      </div>
    </>
  );
}

/** Names of agents by ID. If the job's agent is missing, the list is read once more. */
function useAgentNames({ workspaceId, agentId }: Job): (agentId: string) => string {
  const client = useQueryClient();
  const { data } = useQuery(agentsQuery(workspaceId));
  const find = (id: string) => data?.agents.find((agent) => agent.agentId === id);
  const isUnknown = data !== undefined && agentId !== null && find(agentId) === undefined;
  useEffect(() => {
    if (isUnknown && agentId) void client.invalidateQueries(agentsQuery(workspaceId));
  }, [client, workspaceId, isUnknown, agentId]);
  return (id) => find(id)?.displayName || id;
}

function JobHeader({ title, job, mayAct }: { title: string; job: Job; mayAct: boolean }) {
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-start justify-between gap-3 sm:flex-nowrap">
        <h1 className="min-w-0 text-xl font-semibold tracking-tight wrap-anywhere">{title}</h1>
        {mayAct && <JobActions job={job} />}
      </div>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <StatusAnnounced job={job} />
        <CopyId id={job.jobId} what="job ID" />
      </div>
    </div>
  );
}

/** The status as a live region, so that screen readers announce changes. */
function StatusAnnounced({ job }: { job: Job }) {
  return (
    <span role="status" aria-label="Status" className="inline-flex">
      <StatusBadge status={job.status} changed={job.changed} />
    </span>
  );
}

function Prompt({ text }: { text: string }) {
  const body = (
    <p className="text-sm wrap-anywhere whitespace-pre-wrap">
      <LinkedText text={text} />
    </p>
  );
  if (text.length <= PROMPT_FOLD_CHARS) return body;
  return (
    <details>
      <summary className="cursor-pointer rounded-sm text-sm text-muted hover:text-ink">
        {text.length.toLocaleString('en')} characters. Show the whole prompt
      </summary>
      <div className="mt-3">{body}</div>
    </details>
  );
}

function JobNotFound() {
  return (
    <div className="rounded-lg border bg-surface p-8">
      <EndState icon="alert" tone="neutral" title="Job not found in this workspace">
        <p>Check the ID, or look for the job in another workspace.</p>
      </EndState>
    </div>
  );
}
