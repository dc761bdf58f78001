import type { Repository } from '@signalbox/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { repositoryPagesQuery } from '../api/fleet-queries.ts';
import { commandName } from '../format/command-name.ts';
import { plainText } from '../format/text.ts';
import { Icon } from '../parts/page/icon.tsx';
import { ListPage, MoreButton, rowLinkClasses } from '../parts/page/page-parts.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { EmptyState } from '../parts/status/empty-state.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';
import { RelativeTime } from '../parts/text/relative-time.tsx';

const workspace = getRouteApi('/w/$slug');

/** The repositories of a workspace, newest first. */
export function RepositoriesPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Repositories · ${membership.name}`);
  const list = useInfiniteQuery(repositoryPagesQuery(membership.workspaceId));
  const repos = list.data?.pages.flatMap((page) => page.repos) ?? [];
  return (
    <ListPage title="Repositories">
      {list.isPending && <SkeletonRows what="the repositories" rows={6} />}
      <ReadFailure read={list} />
      {list.data && repos.length === 0 && (
        <EmptyState
          icon="folder-git-2"
          title="No repositories yet"
          guide="/docs/guides/several-machines"
          command={`${commandName()} repo link ~/src/api`}
        >
          Link a clone on your machine. The hub learns a hash of its URL and a label, and never its
          address or code.
        </EmptyState>
      )}
      {repos.length > 0 && (
        <ol aria-label="Repositories" className="overflow-hidden rounded-lg border bg-surface">
          {repos.map((repo) => (
            <RepositoryRow key={repo.repoId} repo={repo} slug={membership.slug} />
          ))}
        </ol>
      )}
      <MoreButton list={list}>Show more repositories</MoreButton>
    </ListPage>
  );
}

function RepositoryRow({ repo, slug }: { repo: Repository; slug: string }) {
  const { repoId, label, queuePausedAt, status } = repo;
  return (
    <li className="relative flex min-h-row items-center gap-3 border-b px-3 last:border-b-0 hover:bg-hover pointer-coarse:min-h-11 sm:px-4">
      <Icon name="folder-git-2" aria-hidden="true" className="text-muted" />
      <div className="min-w-0 grow">
        <Link
          to="/w/$slug/repositories/$repoId"
          params={{ slug, repoId }}
          className={rowLinkClasses}
        >
          {plainText(label) || repoId}
        </Link>
      </div>
      <RepositoryState isPaused={queuePausedAt !== null} isArchived={status === 'archived'} />
      <span className="shrink-0 text-right text-xs text-muted">
        <span className="max-sm:sr-only">linked </span>
        <RelativeTime at={repo.createdAt} className="tabular-nums" />
      </span>
    </li>
  );
}

/** Why no job of a repository is claimed; nothing if jobs are. */
export function RepositoryState({
  isPaused,
  isArchived,
}: {
  isPaused: boolean;
  isArchived: boolean;
}) {
  if (isArchived) {
    return (
      <span className="inline-flex shrink-0 items-center gap-1 text-xs text-muted">
        <Icon name="archive" aria-hidden="true" /> Archived
      </span>
    );
  }
  if (!isPaused) return null;
  return (
    <span className="inline-flex shrink-0 items-center gap-1 text-xs font-medium text-warning">
      <Icon name="circle-pause" aria-hidden="true" /> Paused
    </span>
  );
}
