import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { jobQuery, repositoriesQuery, runChoicesQuery } from '../api/job-queries.ts';
import { plainText } from '../format/text.ts';
import { PauseBanners } from '../job-list/pause-banner.tsx';
import { draftOfJob, emptyDraft } from '../new-job/job-draft.ts';
import { JobForm } from '../new-job/job-form.tsx';
import { readStoredDraft, type StoredDraft } from '../new-job/stored-draft.ts';
import { viewerReason } from '../parts/form/action-button.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { EmptyState } from '../parts/status/empty-state.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/jobs/new');

/** Enqueues a job; with `?from=`, the form begins as a copy of another one. */
export function NewJobPage() {
  const { membership } = workspace.useRouteContext();
  const { from } = route.useSearch();
  usePageTitle(`New job · ${membership.name}`);
  return (
    <div className="mx-auto grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-4">
      <h1 className="text-xl font-semibold tracking-tight">New job</h1>
      {from === undefined ? (
        <Form key="own" initial={readStoredDraft(membership.workspaceId) ?? none} />
      ) : (
        <Copy key={from} jobId={from} />
      )}
    </div>
  );
}

const none: StoredDraft = { draft: emptyDraft, sent: null };

/** The form of a copy, once the job has been read. */
function Copy({ jobId }: { jobId: string }) {
  const { membership } = workspace.useRouteContext();
  const read = useQuery({
    ...jobQuery(membership.workspaceId, jobId),
    // A later change of the job must not change what the person has entered.
    refetchInterval: false,
  });
  if (read.data) {
    const { job } = read.data;
    return (
      <>
        <p className="text-sm text-muted">
          A copy of{' '}
          <Link
            to="/w/$slug/jobs/$jobId"
            params={{ slug: membership.slug, jobId }}
            className="text-accent underline underline-offset-2"
          >
            {plainText(job.title) || jobId}
          </Link>
        </p>
        <Form initial={{ draft: draftOfJob(job), sent: null }} />
      </>
    );
  }
  if (!read.error) return <SkeletonRows what="the job" rows={6} />;
  return <ReadFailure read={read} />;
}

function Form({ initial }: { initial: StoredDraft }) {
  const { membership } = workspace.useRouteContext();
  const { workspaceId, slug } = membership;
  const repositories = useQuery(repositoriesQuery(workspaceId));
  const runs = useQuery(runChoicesQuery(workspaceId));
  if (!repositories.data) {
    return repositories.error ? (
      <ReadFailure read={repositories} />
    ) : (
      <SkeletonRows what="the repositories" rows={6} />
    );
  }
  const { repos } = repositories.data;
  if (repos.length === 0) {
    return (
      <EmptyState
        icon="folder-git-2"
        title="No repository yet"
        command="signalbox repo link ~/src/api"
      >
        A job is for a repository. Link a clone on a machine that is logged in.
      </EmptyState>
    );
  }
  const options = repos
    .filter((repo) => repo.status === 'active' || repo.repoId === initial.draft.repoId)
    .map((repo) => ({ value: repo.repoId, word: plainText(repo.label) || repo.repoId }))
    .sort((a, b) => a.word.localeCompare(b.word));
  const [only] = options;
  const repoId = initial.draft.repoId || (options.length === 1 ? (only?.value ?? '') : '');
  const disabledReason = viewerReason(membership.role);
  const labels = new Map(repos.map((repo) => [repo.repoId, repo.label]));
  return (
    <>
      <PauseBanners workspaceId={workspaceId} labels={labels} disabledReason={disabledReason} />
      <JobForm
        workspaceId={workspaceId}
        slug={slug}
        initial={{ ...initial, draft: { ...initial.draft, repoId } }}
        repositories={options}
        runs={(runs.data?.runs ?? []).map((run) => ({
          value: run.runId,
          word: plainText(run.title ?? run.runRef),
        }))}
        disabledReason={disabledReason}
      />
    </>
  );
}
