import type { Run } from '@signalbox/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { runsQuery } from '../api/fleet-queries.ts';
import { commandName } from '../format/command-name.ts';
import { openWord, titleOfRun } from '../format/run-words.ts';
import { plainText } from '../format/text.ts';
import { ListPage, MoreButton, rowLinkClasses } from '../parts/page/page-parts.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { useRepositoryLabels } from '../parts/record/repository-labels.ts';
import { EmptyState } from '../parts/status/empty-state.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { RunStatus } from '../parts/status/run-status.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';
import { RelativeTime } from '../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');

/** The runs of a workspace, newest first. */
export function RunsPage() {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug } = membership;
  usePageTitle(`Runs · ${membership.name}`);
  const list = useInfiniteQuery(runsQuery(workspaceId));
  const runs = list.data?.pages.flatMap((page) => page.runs) ?? [];
  const labels = useRepositoryLabels(
    workspaceId,
    runs.map((run) => run.repoId),
  );
  return (
    <ListPage title="Runs">
      {list.isPending && <SkeletonRows what="the runs" rows={6} />}
      <ReadFailure read={list} />
      {list.data && runs.length === 0 && (
        <EmptyState
          icon="workflow"
          title="No runs yet"
          command={`${commandName()} enqueue "Plan the health check" --kind create_run`}
        >
          A run is a goal in one repository that several jobs work towards. Triggers and agents
          start runs; a job of the kind “Create run” asks an agent to plan one.
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
    </ListPage>
  );
}

function RunRow({ run, slug, label }: { run: Run; slug: string; label: string | undefined }) {
  return (
    <li className="relative grid min-h-row grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 border-b px-3 py-1.5 last:border-b-0 hover:bg-hover pointer-coarse:min-h-11 sm:grid-cols-[7rem_minmax(0,1fr)_minmax(0,9rem)_minmax(0,10rem)_5.5rem] sm:px-4 sm:py-0">
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
      </span>
      <RelativeTime at={run.updatedAt} className="text-right text-xs text-muted tabular-nums" />
    </li>
  );
}
