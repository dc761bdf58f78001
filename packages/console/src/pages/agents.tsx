import type { AgentStatus } from '@signalbox/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { agentGroupQuery } from '../api/fleet-queries.ts';
import { agentStatusWords } from '../format/agent-words.ts';
import { commandName } from '../format/command-name.ts';
import { ListPage, MoreButton } from '../parts/page/page-parts.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { AgentRow } from '../parts/record/agent-row.tsx';
import { useRepositoryLabels } from '../parts/record/repository-labels.ts';
import { EmptyState } from '../parts/status/empty-state.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';

const workspace = getRouteApi('/w/$slug');
const groups: readonly AgentStatus[] = ['online', 'draining', 'offline'];

/** The agents of a workspace by status: what each holds, serves and runs on. */
export function AgentsPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Agents · ${membership.name}`);
  const online = useInfiniteQuery(agentGroupQuery(membership.workspaceId, ['online']));
  const counts = online.data?.pages[0]?.counts;
  const isEmpty = counts !== undefined && counts.online + counts.draining + counts.offline === 0;
  return (
    <ListPage title="Agents">
      {isEmpty ? (
        <EmptyState
          icon="bot"
          title="No agents yet"
          command={`${commandName()} agent start`}
          guide="/docs/guides/agent-service"
        >
          An agent runs on a machine that has a clone of a repository, claims its jobs and does them
          with a coding tool. Log the machine in and link the clone first.
        </EmptyState>
      ) : (
        groups
          // Until the counts are known, only the first group is shown: it loads, or says its error.
          .filter((status) => status === 'online' || (counts?.[status] ?? 0) > 0)
          .map((status) => <Group key={status} status={status} count={counts?.[status]} />)
      )}
    </ListPage>
  );
}

function Group({ status, count }: { status: AgentStatus; count: number | undefined }) {
  const { membership } = workspace.useRouteContext();
  const list = useInfiniteQuery(agentGroupQuery(membership.workspaceId, [status]));
  const agents = list.data?.pages.flatMap((page) => page.agents) ?? [];
  const repoIds = agents.flatMap((agent) => agent.repoIds);
  const labels = useRepositoryLabels(membership.workspaceId, repoIds);
  const title = agentStatusWords[status];
  return (
    <section aria-label={title} className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2 className="flex items-baseline gap-2 text-sm font-semibold">
        {title}
        <span className="font-normal text-muted tabular-nums">{count}</span>
      </h2>
      {list.isPending && <SkeletonRows what="the agents" rows={3} />}
      <ReadFailure read={list} />
      {list.data && agents.length === 0 && (
        <p className="rounded-lg border border-dashed px-4 py-3 text-sm text-muted">
          No agent is {title.toLowerCase()}. Jobs wait until one is.
        </p>
      )}
      {agents.length > 0 && (
        <ol aria-label={`${title} agents`} className="overflow-hidden rounded-lg border bg-surface">
          {agents.map((agent) => (
            <AgentRow key={agent.agentId} agent={agent} slug={membership.slug} labels={labels} />
          ))}
        </ol>
      )}
      <MoreButton list={list}>Show more agents</MoreButton>
    </section>
  );
}
