import { knownRunStatuses } from 'virtual:contract-data';
import type { ListedRun } from '@signalbox/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type RunFilters, runsQuery } from '../api/fleet-queries.ts';
import { repositoriesQuery } from '../api/job-queries.ts';
import { commandName } from '../format/command-name.ts';
import { formatCost, openWord, progressOf, titleOfRun } from '../format/run-words.ts';
import { plainText } from '../format/text.ts';
import { FilterChip } from '../parts/form/filter-chip.tsx';
import { MoreButton, rowLinkClasses } from '../parts/page/page-parts.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { NewRunButton } from '../parts/record/new-run-button.tsx';
import { useRepositoryLabels } from '../parts/record/repository-labels.ts';
import { EmptyState } from '../parts/status/empty-state.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { RunStatus } from '../parts/status/run-status.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';
import { RelativeTime } from '../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/runs');

const statusOptions = knownRunStatuses.map((value) => ({ value, word: openWord(value) }));

/** The runs of a workspace, newest first. */
export function RunsPage() {
  const { membership } = workspace.useRouteContext();
  const filters = route.useSearch();
  const { workspaceId, slug } = membership;
  usePageTitle(`Runs · ${membership.name}`);
  const list = useInfiniteQuery(runsQuery(workspaceId, filters));
  const runs = list.data?.pages.flatMap((page) => page.runs) ?? [];
  const labels = useRepositoryLabels(
    workspaceId,
    runs.map((run) => run.repoId),
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <div className="mx-auto grid max-w-6xl grid-cols-[minmax(0,1fr)] gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1 className="text-xl font-semibold tracking-tight">Runs</h1>
        <NewRunButton />
      </div>
      <Filters filters={filters} />
      {list.isPending && <SkeletonRows what="the runs" rows={6} />}
      <ReadFailure read={list} />
      {list.data && runs.length === 0 && isFiltered && (
        <EmptyState icon="workflow" title="No run matches">
          Clear a filter to see the others.
        </EmptyState>
      )}
      {list.data && runs.length === 0 && !isFiltered && (
        <EmptyState
          icon="workflow"
          title="No runs yet"
          command={`${commandName()} enqueue "Plan the health check" --kind create_run`}
        >
          A run is a goal in one repository that several jobs work towards. Triggers, agents and
          people start runs; a job of the kind “Create run” asks an agent to plan one.
        </EmptyState>
      )}
      {runs.length > 0 && (
        <ol aria-label="Runs" className="overflow-hidden rounded-lg border bg-surface">
          {runs.map((run) => (
            <RunRow key={run.runId} run={run} slug={slug} label={labels.get(run.repoId)} />
          ))}
        </ol>
      )}
      <MoreButton list={list}>Show more runs</MoreButton>
    </div>
  );
}

function Filters({ filters: { status, repoId } }: { filters: RunFilters }) {
  const { membership } = workspace.useRouteContext();
  const navigate = route.useNavigate();
  const { data } = useQuery(repositoriesQuery(membership.workspaceId));
  const repositories = (data?.repos ?? []).map(({ repoId: value, label }) => {
    return { value, word: plainText(label) || value };
  });
  const change = (next: { status?: string | undefined; repoId?: string | undefined }) => {
    const all = Object.entries({ status, repoId, ...next }).filter(([, value]) => value);
    // The filters of before, each a text, without those that are off.
    void navigate({ search: Object.fromEntries(all) as RunFilters, replace: true });
  };
  return (
    <search className="flex flex-wrap items-center gap-2">
      <FilterChip
        label="Status"
        value={status}
        options={statusOptions}
        onChange={(value) => change({ status: value })}
      />
      <FilterChip
        label="Repository"
        value={repoId}
        options={repositories}
        onChange={(value) => change({ repoId: value })}
      />
    </search>
  );
}

function RunRow({ run, slug, label }: { run: ListedRun; slug: string; label: string | undefined }) {
  const { total, words } = progressOf(run);
  return (
    <li className="relative grid min-h-row grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 border-b px-3 py-1.5 last:border-b-0 hover:bg-hover pointer-coarse:min-h-11 sm:grid-cols-[7rem_minmax(0,1fr)_minmax(0,8rem)_minmax(0,8rem)_8.5rem_3.5rem_4rem] sm:px-4 sm:py-0">
      <span className="max-sm:col-start-2 max-sm:row-start-1">
        <RunStatus status={run.status} />
      </span>
      <Link
        to="/w/$slug/runs/$runId"
        params={{ slug, runId: run.runId }}
        className={rowLinkClasses}
      >
        {titleOfRun(run)}
      </Link>
      <span className="truncate text-sm text-muted max-sm:hidden">
        {run.currentMilestone && openWord(plainText(run.currentMilestone))}
      </span>
      <span className="truncate text-sm text-muted max-sm:text-xs">
        {plainText(label || run.repoId)}
        {total > 0 && <span className="sm:hidden"> · {words}</span>}
      </span>
      <Progress run={run} />
      <span className="text-right text-xs text-muted tabular-nums max-sm:hidden">
        {run.costUsd !== null && formatCost(run.costUsd)}
      </span>
      <RelativeTime at={run.updatedAt} className="text-right text-xs text-muted tabular-nums" />
    </li>
  );
}

/** How many of the jobs of a run have ended, and which of them failed. */
function Progress({ run }: { run: ListedRun }) {
  const { total, ended, failed, words } = progressOf(run);
  if (total === 0) return <span className="text-xs text-muted max-sm:hidden">No jobs yet</span>;
  return (
    <span className="grid gap-1 max-sm:hidden" title={words}>
      <span className="text-xs text-muted tabular-nums">{words}</span>
      <span aria-hidden="true" className="flex h-1 overflow-hidden rounded-full bg-well">
        <span className="bg-done" style={{ width: `${(100 * (ended - failed)) / total}%` }} />
        <span className="bg-failed" style={{ width: `${(100 * failed) / total}%` }} />
      </span>
    </span>
  );
}
