import type { Job, ResponseOf } from '@signalbox/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ConsoleRows } from '../api/hub-call.ts';
import { hasCode } from '../api/hub-error.ts';
import { agentsQuery, jobQuery, repositoriesQuery } from '../api/job-queries.ts';
import { type JobTab, jobTabs } from '../format/job-tabs.ts';
import { plainText } from '../format/text.ts';
import { ChangesTab } from '../job/changes-tab.tsx';
import { JobHeader, JobMeta } from '../job/job-header.tsx';
import { LogTab } from '../job/log-tab.tsx';
import { OverviewTab } from '../job/overview-tab.tsx';
import { RawTab } from '../job/raw-tab.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { buttonClasses } from '../parts/form/button.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { UrlTabs } from '../parts/page/tabs.tsx';
import { JobTimeline } from '../parts/record/job-timeline.tsx';
import { EndState } from '../parts/status/end-state.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { PageSkeleton } from '../parts/status/skeleton.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/jobs/$jobId');

/** One job: what happened, why, and what to do about it. */
export function JobPage() {
  const { membership } = workspace.useRouteContext();
  const { slug, jobId } = route.useParams();
  const read = useQuery(jobQuery(membership.workspaceId, jobId));
  const title = read.data ? plainText(read.data.job.title) || jobId : jobId;
  usePageTitle(title);
  if (hasCode(read.error, 'JOB_NOT_FOUND')) return <JobNotFound slug={slug} />;
  if (read.data === undefined) {
    return read.isPending ? <PageSkeleton /> : <ReadFailure read={read} />;
  }
  return <JobView title={title} {...read.data} />;
}

type JobViewProps = Omit<ResponseOf<ConsoleRows['jobs']['get']>, 'ok'> & { title: string };

const tabWords: Readonly<Record<JobTab, string>> = {
  overview: 'Overview',
  log: 'Log',
  changes: 'Changes',
  timeline: 'Timeline',
  raw: 'Raw',
};

function JobView({ title, job, queuePosition, waitingFor, ...work }: JobViewProps) {
  const { membership } = workspace.useRouteContext();
  const { tab = 'overview', attempt, only, since = 'work' } = route.useSearch();
  const repositories = useQuery(repositoriesQuery(membership.workspaceId));
  const nameOfAgent = useAgentNames(job);
  const repository = repositories.data?.repos.find((repo) => repo.repoId === job.repoId);
  // While names are being read, their place is empty.
  const repositoryLabel = repositories.isPending ? '' : plainText(repository?.label || job.repoId);
  const agentName = job.agentId && plainText(nameOfAgent(job.agentId));
  useTabKeys();
  const isFullWidth = tab === 'log' || tab === 'changes';
  return (
    <div
      className={`mx-auto grid grid-cols-[minmax(0,1fr)] gap-2 ${isFullWidth ? '' : 'max-w-6xl'}`}
    >
      <JobHeader
        job={job}
        title={title}
        slug={membership.slug}
        role={membership.role}
        repositoryLabel={repositoryLabel}
      />
      <JobMeta
        job={job}
        slug={membership.slug}
        repositoryLabel={repositoryLabel}
        agentName={agentName}
      />
      <UrlTabs
        label="About the job"
        current={tab}
        tabs={jobTabs.map((name) => ({ name, word: tabWords[name], ...noteOf(name, job) }))}
      >
        {tab === 'overview' && (
          <OverviewTab
            job={job}
            slug={membership.slug}
            role={membership.role}
            repositoryLabel={repositoryLabel}
            agentName={agentName}
            waitingFor={waitingFor}
            queuePosition={queuePosition}
            work={work}
          />
        )}
        {tab === 'log' && <LogTab job={job} attempt={attempt} only={only} />}
        {tab === 'changes' && (
          <ChangesTab
            key={job.jobId}
            job={job}
            rounds={work.rounds}
            work={work.work}
            place={work.changesPlace}
            reviews={work.reviews}
            slug={membership.slug}
            role={membership.role}
            since={since}
          />
        )}
        {tab === 'timeline' && (
          <JobTimeline job={job} nameOfAgent={(agentId) => plainText(nameOfAgent(agentId))} />
        )}
        {tab === 'raw' && <RawTab job={job} />}
      </UrlTabs>
    </div>
  );
}

function noteOf(tab: JobTab, job: Job): { note?: number } {
  const files = job.evidence?.changedFiles?.length ?? 0;
  return tab === 'changes' && files > 0 ? { note: files } : {};
}

/** `1` to `5` open the tabs, and `g l` the log. */
function useTabKeys(): void {
  const navigate = useNavigate();
  const open = (tab: JobTab) =>
    void navigate({ to: '.', search: tab === 'overview' ? {} : { tab }, resetScroll: false });
  useKeys([
    ...jobTabs.map((tab, at) => ({
      keys: String(at + 1),
      label: `Open the tab ${tabWords[tab]}`,
      group: 'Job',
      act: () => open(tab),
    })),
    { keys: 'g l', label: 'Go to the log', group: 'Job', act: () => open('log') },
  ]);
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
  return (id) => (data === undefined ? '' : find(id)?.displayName || id);
}

function JobNotFound({ slug }: { slug: string }) {
  return (
    <div className="mx-auto max-w-6xl rounded-lg border bg-surface p-8">
      <EndState icon="triangle-alert" tone="neutral" title="Job not found in this workspace">
        <p>
          Check the ID, or look for the job in another workspace. A job that ended before the
          retention of the workspace is in the archive of the hub, with its log: ask its operator.
        </p>
        <Link
          to="/w/$slug/jobs"
          params={{ slug }}
          className={buttonClasses('plain', 'mt-2 w-fit justify-self-center')}
        >
          All jobs
        </Link>
      </EndState>
    </div>
  );
}
