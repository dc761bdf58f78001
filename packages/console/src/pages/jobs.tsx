import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo, useRef, useState } from 'react';
import { agentsQuery, jobCountsQuery, repositoriesQuery } from '../api/job-queries.ts';
import { isFiltered, type JobFilters, jobGroups, statusOfGroup } from '../format/job-filters.ts';
import { BulkBar } from '../job-list/bulk-bar.tsx';
import { JobFilterBar } from '../job-list/job-filter-bar.tsx';
import { JobLines } from '../job-list/job-lines.tsx';
import { PauseBanners } from '../job-list/pause-banner.tsx';
import { countOf, useJobList } from '../job-list/use-job-list.ts';
import { type Selection, useSelection } from '../job-list/use-selection.ts';
import { useKeys } from '../keys/use-keys.ts';
import { showToast } from '../parts/dialog/toast.ts';
import { viewerReason } from '../parts/form/action-button.tsx';
import { Button, buttonClasses } from '../parts/form/button.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { FirstSteps } from '../parts/record/first-steps.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/jobs');

type FilterChange = { [Name in keyof JobFilters]: JobFilters[Name] | undefined };

/** The jobs of a workspace: by state, or newest first where a status or a text is chosen. */
export function JobsPage() {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug } = membership;
  usePageTitle(`Jobs · ${membership.name}`);
  const filters = route.useSearch();
  const list = useJobList(workspaceId, filters);
  const order = useMemo(() => list.jobs.map((job) => job.jobId), [list.jobs]);
  const selection = useSelection(order);
  const [currentId, setCurrentId] = useState<string>();
  const names = useNames(workspaceId);
  const searchRef = useRef<HTMLInputElement>(null);
  const change = useFilterChange();
  const disabledReason = viewerReason(membership.role);
  useListKeys({ order, currentId, setCurrentId, selection, searchRef, slug });
  return (
    <div className="mx-auto grid max-w-6xl grid-cols-[minmax(0,1fr)] gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <h1 className="text-xl font-semibold tracking-tight">Jobs</h1>
        <StateCounts filters={filters} />
        <div className="ml-auto flex gap-2">
          {!selection.isSelecting && list.jobs.length > 0 && (
            <Button onClick={selection.begin}>Select</Button>
          )}
          <Link to="/w/$slug/jobs/new" params={{ slug }} className={buttonClasses('primary')}>
            <Icon name="plus" />
            New job
          </Link>
        </div>
      </div>
      <PauseBanners
        workspaceId={workspaceId}
        labels={names.labels}
        repoId={filters.repo}
        disabledReason={disabledReason}
      />
      <JobFilterBar
        filters={filters}
        labels={names.labels}
        agentNames={names.agentNames}
        searchRef={searchRef}
        onChange={change}
      />
      <ReadFailure read={{ ...list, data: list.isPending ? undefined : list.jobs }} />
      {list.lines.length > 0 ? (
        <JobLines
          list={list}
          slug={slug}
          {...names}
          selection={selection}
          currentId={currentId}
          onCurrent={setCurrentId}
        />
      ) : (
        <NoRows list={list} filters={filters} slug={slug} hasClone={names.labels.size > 0} />
      )}
      {selection.isSelecting && (
        <BulkBar
          workspaceId={workspaceId}
          selection={selection}
          jobs={list.jobs}
          disabledReason={disabledReason}
        />
      )}
    </div>
  );
}

/** The number of jobs of each group; a number shows all of its group. */
function StateCounts({ filters }: { filters: JobFilters }) {
  const { membership } = workspace.useRouteContext();
  const { data } = useQuery(jobCountsQuery(membership.workspaceId, filters));
  const counted = jobGroups.map((group) => ({ group, count: countOf(group, data) }));
  if (counted.every(({ count }) => count === '')) return null;
  return (
    <ul
      aria-label="States"
      className="flex flex-wrap gap-x-3 text-sm text-muted max-sm:order-last max-sm:w-full"
    >
      {counted
        .filter(({ count }) => count !== '')
        .map(({ group, count }) => (
          <li key={group.name}>
            <Link
              from="/w/$slug/jobs"
              search={({ q: _q, in: _in, ...now }) => ({ ...now, status: statusOfGroup(group) })}
              aria-current={filters.status === group.name ? 'true' : undefined}
              className="inline-flex min-h-6 items-center gap-1 rounded-sm hover:text-ink aria-[current]:font-medium aria-[current]:text-ink pointer-coarse:min-h-11"
            >
              <span className="font-medium tabular-nums">{count}</span>
              {group.word.toLowerCase()}
            </Link>
          </li>
        ))}
    </ul>
  );
}

interface NoRowsProps {
  list: ReturnType<typeof useJobList>;
  filters: JobFilters;
  slug: string;
  /** Whether the workspace has a repository. */
  hasClone: boolean;
}

/** In place of rows: the skeleton, the first steps, or the reason why the list is empty. */
function NoRows({ list, filters, slug, hasClone }: NoRowsProps) {
  const navigate = route.useNavigate();
  if (list.isPending) return list.error ? null : <SkeletonRows what="the jobs" rows={12} />;
  if (!isFiltered(filters)) {
    return list.error ? null : <NoJobs slug={slug} hasClone={hasClone} />;
  }
  const { readMore } = list;
  return (
    <div className="grid justify-items-center gap-3 rounded-lg border border-dashed px-4 py-12 text-center text-sm text-muted">
      <p>
        {readMore === null
          ? 'No job matches these filters.'
          : 'None of the newest jobs matches. Older ones have not been searched.'}
      </p>
      <div className="flex flex-wrap justify-center gap-2">
        {readMore !== null && (
          <Button busy={list.isReadingMore} onClick={readMore}>
            Search older jobs
          </Button>
        )}
        {filters.q && filters.in === undefined && (
          <Button onClick={() => navigate({ search: (now) => ({ ...now, in: 'logs' }) })}>
            Search the logs
          </Button>
        )}
        <Button onClick={() => navigate({ search: {} })}>Show all jobs</Button>
      </div>
    </div>
  );
}

/** Without jobs in the list: the first steps, unless all works have landed or were closed. */
function NoJobs({ slug, hasClone }: Pick<NoRowsProps, 'slug' | 'hasClone'>) {
  const { membership } = workspace.useRouteContext();
  const navigate = route.useNavigate();
  const { data, isPending } = useQuery(jobCountsQuery(membership.workspaceId, { ended: true }));
  if (isPending) return <SkeletonRows what="the jobs" rows={12} />;
  if (jobGroups.every((group) => countOf(group, data) === '')) {
    return <FirstSteps slug={slug} hasClone={hasClone} />;
  }
  return (
    <div className="grid justify-items-center gap-3 rounded-lg border border-dashed px-4 py-12 text-center text-sm text-muted">
      <p>All work has landed or was closed.</p>
      <Button onClick={() => navigate({ search: { ended: true } })}>Show it</Button>
    </div>
  );
}

/** The names of repositories and agents by their IDs. */
function useNames(workspaceId: string) {
  const { data: repositories } = useQuery(repositoriesQuery(workspaceId));
  const { data: agents } = useQuery(agentsQuery(workspaceId));
  const labels = useMemo(
    () => new Map(repositories?.repos.map((repo) => [repo.repoId, repo.label])),
    [repositories],
  );
  const agentNames = useMemo(
    () => new Map(agents?.agents.map((agent) => [agent.agentId, agent.displayName])),
    [agents],
  );
  return { labels, agentNames };
}

/** Changes filters in the URL; an undefined one is taken out of it. */
function useFilterChange(): (change: FilterChange) => void {
  const navigate = route.useNavigate();
  return useCallback(
    (change) => {
      void navigate({
        search: (now) => {
          const next = Object.entries({ ...now, ...change });
          return Object.fromEntries(next.filter(([, value]) => value !== undefined));
        },
        replace: true,
        resetScroll: false,
      });
    },
    [navigate],
  );
}

interface ListKeys {
  order: readonly string[];
  currentId: string | undefined;
  setCurrentId: (jobId: string) => void;
  selection: Selection;
  searchRef: { current: HTMLInputElement | null };
  slug: string;
}

function useListKeys(keys: ListKeys): void {
  const { order, currentId, setCurrentId, selection, searchRef, slug } = keys;
  const navigate = route.useNavigate();
  const group = 'Jobs';
  const move = (step: 1 | -1) => {
    const at = currentId === undefined ? -1 : order.indexOf(currentId);
    const to = at < 0 ? 0 : at + step;
    const jobId = order[Math.max(0, Math.min(order.length - 1, to))];
    if (jobId !== undefined) setCurrentId(jobId);
  };
  const onCurrent = (act: (jobId: string) => void) => () => {
    if (currentId !== undefined && order.includes(currentId)) act(currentId);
  };
  useKeys([
    { keys: 'j', label: 'Next job', group, act: () => move(1) },
    { keys: 'k', label: 'Previous job', group, act: () => move(-1) },
    {
      keys: 'x',
      label: 'Select the job',
      group,
      act: onCurrent((jobId) => selection.toggle(jobId, false)),
    },
    {
      keys: 'X',
      label: 'Select up to the job',
      group,
      act: onCurrent((jobId) => selection.toggle(jobId, true)),
    },
    { keys: 'Escape', label: 'Clear the selection', group, act: selection.clear },
    { keys: 'y', label: 'Copy the ID of the job', group, act: onCurrent(copyId) },
    {
      keys: 'd',
      label: 'Duplicate the job',
      group,
      act: onCurrent(
        (from) => void navigate({ to: '/w/$slug/jobs/new', params: { slug }, search: { from } }),
      ),
    },
    {
      keys: 'n',
      label: 'New job',
      group,
      act: () => void navigate({ to: '/w/$slug/jobs/new', params: { slug }, search: {} }),
    },
    { keys: '/', label: 'Search the jobs', group, act: () => searchRef.current?.focus() },
  ]);
}

function copyId(jobId: string): void {
  // Outside a secure context (plain HTTP, not loopback) the browser has no clipboard.
  (navigator.clipboard?.writeText(jobId) ?? Promise.reject(new Error('no clipboard'))).then(
    () => showToast({ title: 'Job ID copied', detail: jobId }),
    () => showToast({ title: 'The browser did not allow copying', detail: jobId, tone: 'bad' }),
  );
}
