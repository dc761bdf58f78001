import type { Agent } from '@signalbox/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { agentQuery, nameOfAgent, peopleQuery } from '../api/fleet-queries.ts';
import { hasCode } from '../api/hub-error.ts';
import { commandOutlook, commandWords, pauseWords } from '../format/agent-words.ts';
import { plainText } from '../format/text.ts';
import { isolationWords, toolsWords } from '../format/tool-words.ts';
import { CopyId } from '../parts/form/copy-button.tsx';
import { BackLink, innerLinkClasses } from '../parts/page/page-parts.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { AgentActions } from '../parts/record/agent-actions.tsx';
import { platformOf } from '../parts/record/agent-row.tsx';
import { Facts, Panel } from '../parts/record/facts.tsx';
import { useRepositoryLabels } from '../parts/record/repository-labels.ts';
import { AgentBadge } from '../parts/status/agent-status.tsx';
import { EndState } from '../parts/status/end-state.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';
import { RelativeTime, useNow } from '../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/agents/$agentId');

/** One agent: what it holds, what it serves, and the commands to it. */
export function AgentPage() {
  const { membership } = workspace.useRouteContext();
  const { slug, agentId } = route.useParams();
  const read = useQuery(agentQuery(membership.workspaceId, agentId));
  const agent = read.data?.agent;
  usePageTitle(agent ? plainText(nameOfAgent(agent)) : agentId);
  const isUnknown = hasCode(read.error, 'AGENT_NOT_FOUND');
  return (
    <div className="mx-auto grid max-w-6xl grid-cols-[minmax(0,1fr)] gap-4">
      <BackLink to="/w/$slug/agents" slug={slug}>
        All agents
      </BackLink>
      {read.isPending && <SkeletonRows what="the agent" rows={5} />}
      {isUnknown && (
        <EndState icon="triangle-alert" tone="neutral" title="No such agent">
          <p>It may belong to another workspace.</p>
        </EndState>
      )}
      {!isUnknown && <ReadFailure read={read} />}
      {agent && <AgentView agent={agent} />}
    </div>
  );
}

function AgentView({ agent }: { agent: Agent }) {
  return (
    <>
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 text-xl font-semibold tracking-tight wrap-anywhere">
            {plainText(nameOfAgent(agent))}
          </h1>
          <span role="status" aria-label="Status" className="inline-flex">
            <AgentBadge status={agent.status} />
          </span>
        </div>
        <AgentActions agent={agent} />
      </div>
      <CommandNote agent={agent} />
      <PauseNote agent={agent} />
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="grid min-w-0 gap-4">
          <HeldPanel agent={agent} />
          <ServedPanel agent={agent} />
        </div>
        <Panel title="Details">
          <AgentFacts agent={agent} />
        </Panel>
      </div>
    </>
  );
}

/** The last command: its state, what happens next, and who asked for it. */
function CommandNote({ agent }: { agent: Agent }) {
  const { command } = agent;
  if (command === null) return null;
  return (
    <section
      role="status"
      aria-label="Command"
      className="grid gap-1 rounded-lg border border-l-[3px] border-l-warning bg-surface px-4 py-3 text-sm"
    >
      <p className="font-medium">{commandWords(command)}</p>
      <p>{commandOutlook(agent)}</p>
      <p className="text-muted">
        Asked by {plainText(command.askedByName) || command.askedBy}{' '}
        <RelativeTime at={command.askedAt} />
        {command.reason !== null && <>: {plainText(command.reason)}</>}
      </p>
    </section>
  );
}

/** Why the agent claims nothing at the moment, for all accounts or one, and when it tries again. */
function PauseNote({ agent }: { agent: Agent }) {
  const pause = useNow((nowMs) => pauseWords(agent, nowMs));
  if (pause === null) return null;
  return (
    <section
      role="status"
      aria-label="Pause"
      className="grid gap-1 rounded-lg border border-l-[3px] border-l-warning bg-surface px-4 py-3 text-sm"
    >
      <p className="font-medium">
        {pause.tool === null ? 'Paused' : `${pause.tool} paused`} until {pause.until}:{' '}
        {pause.reason}
      </p>
      <p className="whitespace-pre-wrap wrap-anywhere">{pause.message}</p>
      <p className="text-muted">
        {pause.tool === null
          ? 'It claims no job until then.'
          : 'It claims no job for this account until then; those of its other accounts continue.'}{' '}
        Afterwards it claims one, and more if the model answers.
      </p>
    </section>
  );
}

function HeldPanel({ agent }: { agent: Agent }) {
  const { membership } = workspace.useRouteContext();
  const { held, heldCount } = agent;
  const others = heldCount - held.length;
  return (
    <Panel title={heldCount === 0 ? 'Holds no job' : `Holds ${heldCount}`}>
      {heldCount === 0 && (
        <p className="text-sm text-muted">
          {agent.status === 'online'
            ? 'It has no job of the repositories that it serves.'
            : 'Jobs that it had are finished, or went back to the queue.'}
        </p>
      )}
      <ul className="grid gap-1 empty:hidden">
        {held.map((job) => (
          <li key={job.jobId} className="flex min-w-0 items-baseline justify-between gap-3 text-sm">
            <Link
              to="/w/$slug/jobs/$jobId"
              params={{ slug: membership.slug, jobId: job.jobId }}
              className={innerLinkClasses}
            >
              <span className="truncate">{plainText(job.title) || job.jobId}</span>
            </Link>
            {job.startedAt && (
              <span className="shrink-0 text-xs text-muted">
                started <RelativeTime at={job.startedAt} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {others > 0 && <p className="text-xs text-muted">and {others} more</p>}
    </Panel>
  );
}

function ServedPanel({ agent: { repoIds } }: { agent: Agent }) {
  const { membership } = workspace.useRouteContext();
  const labels = useRepositoryLabels(membership.workspaceId, repoIds);
  return (
    <Panel title="Repositories">
      {repoIds.length === 0 ? (
        <p className="text-sm text-muted">It serves none, so it gets no jobs of repositories.</p>
      ) : (
        <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
          {repoIds.map((repoId) => (
            <li key={repoId} className="min-w-0">
              <Link
                to="/w/$slug/repositories/$repoId"
                params={{ slug: membership.slug, repoId }}
                className={innerLinkClasses}
              >
                <span className="truncate">{plainText(labels.get(repoId) || repoId)}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function AgentFacts({ agent }: { agent: Agent }) {
  const { capabilities } = agent;
  const labels = Object.entries(capabilities.labels ?? {});
  return (
    <Facts
      rows={[
        ['Run by', <RunBy key="by" principalId={agent.principalId} />],
        ['Last report', <RelativeTime key="seen" at={agent.lastSeenAt} />],
        ['First seen', <RelativeTime key="first" at={agent.createdAt} />],
        ['Version', agent.agentVersion && plainText(agent.agentVersion)],
        ['Platform', platformOf(agent)],
        ['Jobs at a time', capabilities.maxConcurrentJobs ?? 'No limit'],
        ['May write', capabilities.canWrite ? 'Yes' : 'No'],
        ['Tools', toolsWords(agent)],
        ['Isolation', isolationWords(agent)],
        ['Models', plainText((capabilities.models ?? []).join(', '))],
        ['Labels', plainText(labels.map(([name, value]) => `${name}=${value}`).join(', '))],
        ['ID', <CopyId key="id" id={agent.agentId} what="agent ID" />],
      ]}
    />
  );
}

/** The person or program whose token the agent uses. */
function RunBy({ principalId }: { principalId: string }) {
  const { membership } = workspace.useRouteContext();
  const { data } = useQuery(peopleQuery(membership.workspaceId));
  const person = data?.members.find((member) => member.personId === principalId);
  return <>{plainText(person?.name ?? principalId.replace(/^service:/, 'Service '))}</>;
}
