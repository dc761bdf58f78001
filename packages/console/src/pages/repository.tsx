import type { AskOrder, Repository } from '@signalbox/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import {
  lastJobsQuery,
  nameOfAgent,
  repositoryQuery,
  servingAgentsQuery,
} from '../api/fleet-queries.ts';
import { callHub } from '../api/hub-call.ts';
import { hasCode } from '../api/hub-error.ts';
import { pausesQuery } from '../api/job-queries.ts';
import { commandName } from '../format/command-name.ts';
import { plainText } from '../format/text.ts';
import { Command, CopyId } from '../parts/form/copy-button.tsx';
import { BackLink, innerLinkClasses } from '../parts/page/page-parts.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { AskOrderPanel } from '../parts/record/ask-order-panel.tsx';
import { Facts, Panel } from '../parts/record/facts.tsx';
import { RepositoryActions } from '../parts/record/repository-actions.tsx';
import { AgentSign } from '../parts/status/agent-status.tsx';
import { EndState } from '../parts/status/end-state.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';
import { StatusBadge } from '../parts/status/status-badge.tsx';
import { RelativeTime } from '../parts/text/relative-time.tsx';
import { RepositoryState } from './repositories.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/repositories/$repoId');

/** One repository: its label and state, the agents that serve it, and its last jobs. */
export function RepositoryPage() {
  const { membership } = workspace.useRouteContext();
  const { slug, repoId } = route.useParams();
  const read = useQuery(repositoryQuery(membership.workspaceId, repoId));
  const repo = read.data?.repo;
  usePageTitle(repo ? plainText(repo.label) || repoId : repoId);
  const isUnknown = hasCode(read.error, 'REPO_NOT_FOUND');
  return (
    <div className="mx-auto grid max-w-6xl grid-cols-[minmax(0,1fr)] gap-4">
      <BackLink to="/w/$slug/repositories" slug={slug}>
        All repositories
      </BackLink>
      {read.isPending && <SkeletonRows what="the repository" rows={5} />}
      {isUnknown && (
        <EndState icon="triangle-alert" tone="neutral" title="No such repository">
          <p>It may belong to another workspace.</p>
        </EndState>
      )}
      {!isUnknown && <ReadFailure read={read} />}
      {repo && <RepositoryView repo={repo} />}
    </div>
  );
}

function RepositoryView({ repo }: { repo: Repository }) {
  const { workspaceId, remoteUrlHash } = repo;
  const client = useQueryClient();
  const saveOrder = async (askOrder: AskOrder | null) => {
    await callHub('repositories', 'upsert', { workspaceId, remoteUrlHash, askOrder });
    await client.invalidateQueries({ queryKey: ['repositories', workspaceId] });
  };
  return (
    <>
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 text-xl font-semibold tracking-tight wrap-anywhere">
            {plainText(repo.label) || repo.repoId}
          </h1>
          <span role="status" aria-label="State" className="inline-flex">
            <RepositoryState
              isPaused={repo.queuePausedAt !== null}
              isArchived={repo.status === 'archived'}
            />
          </span>
        </div>
        <RepositoryActions repo={repo} />
      </div>
      <StateNote repo={repo} />
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <LastJobs repo={repo} />
        <div className="grid min-w-0 gap-4">
          <ServingAgents repo={repo} />
          <AskOrderPanel
            askOrder={repo.askOrder}
            byDefault="The person who enqueued the job. If that person has no channel, every member with one."
            onSave={saveOrder}
          />
          <Panel title="Details">
            <Facts
              rows={[
                ['Linked', <RelativeTime key="linked" at={repo.createdAt} />],
                ['ID', <CopyId key="id" id={repo.repoId} what="repository ID" />],
                ['URL hash', <CopyId key="hash" id={repo.remoteUrlHash} what="URL hash" />],
              ]}
            />
          </Panel>
        </div>
      </div>
    </>
  );
}

/** Why jobs of the repository wait: it is archived or paused. */
function StateNote({ repo }: { repo: Repository }) {
  const { membership } = workspace.useRouteContext();
  const { data } = useQuery(pausesQuery(membership.workspaceId));
  const isArchived = repo.status === 'archived';
  if (!isArchived && repo.queuePausedAt === null) return null;
  const pause = data?.pauses.find(({ repoId }) => repoId === repo.repoId);
  return (
    <section
      aria-label="Why jobs wait"
      className="grid gap-1 rounded-lg border border-l-[3px] border-l-warning bg-surface px-4 py-3 text-sm"
    >
      <p className="font-medium">
        {isArchived ? 'The repository is archived' : 'The queue of the repository is paused'}
      </p>
      <p>Its jobs wait. Running jobs continue, and so do jobs of other repositories.</p>
      {!isArchived && repo.queuePausedAt !== null && (
        <p className="text-muted">
          Paused {pause?.pausedBy && <>by {plainText(pause.pausedBy)} </>}
          <RelativeTime at={repo.queuePausedAt} />
          {pause?.reason && <>: {plainText(pause.reason)}</>}
        </p>
      )}
    </section>
  );
}

function LastJobs({ repo: { repoId } }: { repo: Repository }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug } = membership;
  const read = useQuery(lastJobsQuery(workspaceId, repoId));
  return (
    <Panel title="Last jobs">
      <ReadFailure read={read} />
      {read.data?.jobs.length === 0 && (
        <>
          <p className="text-sm text-muted">It has no jobs yet. In its clone, run:</p>
          <Command text={`${commandName()} enqueue "Describe the task"`} />
        </>
      )}
      <ul className="grid empty:hidden">
        {read.data?.jobs.map((job) => (
          <li
            key={job.jobId}
            className="flex min-h-row min-w-0 items-center gap-3 border-b text-sm last:border-b-0"
          >
            <span className="w-24 shrink-0">
              <StatusBadge status={job.status} changed={job.changed} verdict={job.verdict} />
            </span>
            <span className="min-w-0 grow">
              <Link
                to="/w/$slug/jobs/$jobId"
                params={{ slug, jobId: job.jobId }}
                className={innerLinkClasses}
              >
                <span className="truncate">{plainText(job.title) || job.jobId}</span>
              </Link>
            </span>
            <RelativeTime at={job.createdAt} className="shrink-0 text-xs text-muted tabular-nums" />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function ServingAgents({ repo: { repoId } }: { repo: Repository }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug } = membership;
  const read = useQuery(servingAgentsQuery(workspaceId, repoId));
  return (
    <Panel title="Agents that serve it">
      <ReadFailure read={read} />
      {read.data?.agents.length === 0 && (
        <>
          <p className="text-sm text-muted">
            No agent that is online serves it. On a machine with a linked clone, run:
          </p>
          <Command text={`${commandName()} agent start`} />
        </>
      )}
      <ul className="grid empty:hidden">
        {read.data?.agents.map((agent) => (
          <li key={agent.agentId} className="flex min-h-8 min-w-0 items-center gap-2 text-sm">
            <AgentSign status={agent.status} />
            <Link
              to="/w/$slug/agents/$agentId"
              params={{ slug, agentId: agent.agentId }}
              className={innerLinkClasses}
            >
              <span className="truncate">{plainText(nameOfAgent(agent))}</span>
            </Link>
            <span className="ml-auto shrink-0 text-xs text-muted">
              {agent.heldCount === 0 ? 'idle' : `holds ${agent.heldCount}`}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
