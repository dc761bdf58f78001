import { jobKinds, jobStatuses } from 'virtual:contract-data';
import type { JobStatus } from '@signalbox/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import {
  type JobFilters,
  jobCountsQuery,
  jobsQuery,
  repositoriesQuery,
} from '../api/job-queries.ts';
import { kindWords, statusWords } from '../format/job-words.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNotice } from '../parts/error-notice.tsx';
import { SelectField } from '../parts/field.tsx';
import { FirstSteps } from '../parts/first-steps.tsx';
import { JobRow } from '../parts/job-row.tsx';
import { Loading } from '../parts/loading.tsx';
import { usePageTitle } from '../parts/page-title.ts';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/jobs');

const statusOptions = jobStatuses.map((value) => ({ value, word: statusWords[value] }));
const kindOptions = jobKinds.map((value) => ({ value, word: kindWords[value] }));

/** The jobs of a workspace, newest first. */
export function JobsPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Jobs · ${membership.name}`);
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const narrow = (change: JobFilters) =>
    navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  return (
    <div className="mx-auto grid max-w-5xl grid-cols-[minmax(0,1fr)] gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1 className="text-xl font-semibold tracking-tight">Jobs</h1>
        <CountLinks />
        <search className="flex flex-wrap gap-2">
          <SelectField
            label="Status"
            anyWord="Any status"
            value={filters.status}
            options={statusOptions}
            onChange={(status) => narrow({ status })}
          />
          <SelectField
            label="Kind"
            anyWord="Any kind"
            value={filters.kind}
            options={kindOptions}
            onChange={(kind) => narrow({ kind })}
          />
        </search>
      </div>
      <JobList filters={filters} />
    </div>
  );
}

/** The jobs that have not ended, most urgent first. Each number leads to its jobs. */
const countWords: readonly { status: JobStatus; words: string }[] = [
  { status: 'blocked', words: 'waiting for a person' },
  { status: 'running', words: 'running' },
  { status: 'pending', words: 'queued' },
];

function CountLinks() {
  const { membership } = workspace.useRouteContext();
  const { data } = useQuery(jobCountsQuery(membership.workspaceId));
  if (!data) return null;
  const shown = countWords.filter(({ status }) => data.counts[status] > 0);
  return (
    <ul aria-label="In progress" className="mr-auto flex flex-wrap gap-x-3 text-sm text-muted">
      {shown.map(({ status, words }) => (
        <li key={status}>
          <Link
            from="/w/$slug/jobs"
            search={{ status }}
            className="inline-flex h-8 items-center rounded-md underline-offset-2 hover:text-ink hover:underline pointer-coarse:h-11"
          >
            {data.counts[status].toLocaleString('en')}
            {data.capped.includes(status) && '+'} {words}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function JobList({ filters }: { filters: JobFilters }) {
  const { membership } = workspace.useRouteContext();
  const navigate = route.useNavigate();
  const list = useInfiniteQuery(jobsQuery(membership.workspaceId, filters));
  const repositories = useQuery(repositoriesQuery(membership.workspaceId));
  if (list.isPending) return <Loading what="the jobs" />;
  if (!list.data) return <ErrorNotice error={list.error} action={<Again list={list} />} />;

  const jobs = list.data.pages.flatMap((page) => page.jobs);
  const labels = new Map(repositories.data?.repos.map((repo) => [repo.repoId, repo.label]));
  if (jobs.length === 0 && filters.status === undefined && filters.kind === undefined) {
    return <FirstSteps slug={membership.slug} />;
  }
  return (
    <>
      {list.isError && <ErrorNotice error={list.error} action={<Again list={list} />} />}
      {jobs.length === 0 ? (
        <div className="grid justify-items-center gap-3 rounded-lg border border-dashed py-12 text-sm text-muted">
          <p>No job matches these filters.</p>
          <Button onClick={() => navigate({ search: {} })}>Show all jobs</Button>
        </div>
      ) : (
        <ol aria-label="Jobs" className="overflow-hidden rounded-lg border bg-surface">
          {jobs.map((job) => (
            <JobRow
              key={job.jobId}
              job={job}
              slug={membership.slug}
              repositoryLabel={labels.get(job.repoId)}
            />
          ))}
        </ol>
      )}
      {list.hasNextPage && (
        <Button
          className="justify-self-center"
          busy={list.isFetchingNextPage}
          onClick={() => list.fetchNextPage()}
        >
          Show more jobs
        </Button>
      )}
    </>
  );
}

function Again({ list }: { list: { refetch: () => unknown; isFetching: boolean } }) {
  return (
    <Button busy={list.isFetching} onClick={() => list.refetch()}>
      Try again
    </Button>
  );
}
