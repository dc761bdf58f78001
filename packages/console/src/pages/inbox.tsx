import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useParams } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { type DecisionRow, decisionsQuery, type InboxFilters } from '../api/decision-queries.ts';
import { repositoriesQuery } from '../api/job-queries.ts';
import { classNames } from '../class-names.ts';
import { plainText } from '../format/text.ts';
import { useKeys } from '../keys/use-keys.ts';
import { buttonClasses } from '../parts/form/button.tsx';
import { FilterChip } from '../parts/form/filter-chip.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { MoreButton } from '../parts/page/page-parts.tsx';
import { usePageTitle } from '../parts/page/page-title.ts';
import { useWide } from '../parts/page/use-wide.ts';
import { DecisionCard } from '../parts/record/decision-card.tsx';
import { InboxRow } from '../parts/record/inbox-row.tsx';
import { EmptyState } from '../parts/status/empty-state.tsx';
import { ReadFailure } from '../parts/status/read-failure.tsx';
import { SkeletonRows } from '../parts/status/skeleton.tsx';
import { useOpenDecisions } from '../shell/open-decisions.tsx';

const workspace = getRouteApi('/w/$slug');
const route = getRouteApi('/w/$slug/inbox');
/** Further questions are read before the keys arrive at the last one. */
const ROWS_AHEAD = 10;

/** The questions that wait for a person: a list and a card; on phones, one after the other. */
export function InboxPage() {
  const { membership } = workspace.useRouteContext();
  usePageTitle(`Inbox · ${membership.name}`);
  const isWide = useWide();
  const { uncertaintyId } = useParams({ strict: false });
  const inbox = useInbox();
  const shownId = uncertaintyId;
  const { show, moveBy, next, cardRef } = useMoves(inbox, shownId);
  // On wide windows the first question is open beside the list. It gets the address, so that it
  // stays, with its undo, when the answer takes it from the list.
  const firstId = isWide && shownId === undefined ? inbox.rows[0]?.uncertaintyId : undefined;
  useEffect(() => {
    if (firstId !== undefined) show(firstId);
  }, [firstId, show]);
  useKeys([
    { keys: 'j', label: 'Next question', group: 'Inbox', act: () => moveBy(1) },
    { keys: 'k', label: 'Previous question', group: 'Inbox', act: () => moveBy(-1) },
  ]);
  const isListShown = isWide || uncertaintyId === undefined;
  return (
    <div
      className={classNames(
        'mx-auto grid grid-cols-[minmax(0,1fr)] items-start gap-4',
        isWide && shownId !== undefined
          ? 'max-w-6xl lg:grid-cols-[minmax(0,22rem)_minmax(0,1fr)] lg:gap-6'
          : 'max-w-3xl',
      )}
    >
      {isListShown && <InboxList inbox={inbox} shownId={isWide ? shownId : undefined} />}
      {shownId !== undefined && (
        <div
          ref={cardRef}
          tabIndex={-1}
          className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3 outline-none"
        >
          {!isListShown && <BackToList slug={membership.slug} filters={inbox.filters} />}
          <DecisionCard
            key={shownId}
            workspace={membership}
            uncertaintyId={shownId}
            level={isListShown ? 2 : 1}
            alikeIds={inbox.rows.find((row) => row.uncertaintyId === shownId)?.alikeIds}
            isFailureSaid={isListShown && inbox.list.isLoadingError}
            next={next && <NextLink to={next} />}
          />
        </div>
      )}
    </div>
  );
}

function useInbox() {
  const { membership } = workspace.useRouteContext();
  const filters = route.useSearch();
  const list = useInfiniteQuery(decisionsQuery(membership.workspaceId, filters));
  const listed = list.data?.pages.flatMap((page) => page.uncertainties) ?? [];
  // A question that moves between the reads of two pages may be on both.
  const rows = [...new Map(listed.map((row) => [row.uncertaintyId, row])).values()];
  return { filters, list, rows };
}

/** Ways to show another question of the list. */
function useMoves({ rows, list }: ReturnType<typeof useInbox>, shownId: string | undefined) {
  const navigate = route.useNavigate();
  const show = useCallback(
    (uncertaintyId: string) =>
      void navigate({
        to: '/w/$slug/inbox/$uncertaintyId',
        params: (now) => ({ ...now, uncertaintyId }),
        search: (now) => now,
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const at = rows.findIndex((row) => row.uncertaintyId === shownId);
  // An answer takes its question from the list: the one after it is then at its place.
  const [place, setPlace] = useState(0);
  if (at !== -1 && at !== place) setPlace(at);
  const open = (row: DecisionRow) => row.uncertaintyId !== shownId && !row.answer;
  const next = rows.slice(place).find(open) ?? rows.find(open);
  const cardRef = useRef<HTMLDivElement>(null);
  const isMoved = useRef(false);
  const moveBy = (step: 1 | -1) => {
    const isGone = at === -1;
    const row = isGone && step === 1 ? next : rows[(isGone ? place : at) + step];
    if (row === undefined) return;
    isMoved.current = true;
    show(row.uncertaintyId);
  };
  // The part that had the focus went with the last question, whose page may have been scrolled.
  useEffect(() => {
    if (!isMoved.current || shownId === undefined) return;
    if (document.activeElement === document.body) cardRef.current?.focus({ preventScroll: true });
    const { top = 0 } = cardRef.current?.getBoundingClientRect() ?? {};
    if (top < 0) window.scrollTo({ top: 0 });
  }, [shownId]);
  const isNearEnd = at >= rows.length - ROWS_AHEAD && list.hasNextPage && !list.isFetching;
  const { fetchNextPage } = list;
  useEffect(() => {
    if (isNearEnd) void fetchNextPage();
  }, [isNearEnd, fetchNextPage]);
  return { show, moveBy, next, cardRef };
}

interface InboxListProps {
  inbox: ReturnType<typeof useInbox>;
  shownId: string | undefined;
}

function InboxList({ inbox: { filters, list, rows }, shownId }: InboxListProps) {
  const { membership } = workspace.useRouteContext();
  const repositories = useQuery(repositoriesQuery(membership.workspaceId));
  const labels = new Map(repositories.data?.repos.map((repo) => [repo.repoId, repo.label]));
  const openCount = useOpenDecisions(membership.workspaceId);
  useCurrentInView(shownId);
  const client = useQueryClient();
  // The failure of the question is not shown beside that of the list: both are read again.
  const readAgain = () =>
    client.refetchQueries({ predicate: ({ state }) => state.status === 'error' });
  return (
    <section
      aria-label="Questions"
      className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3 lg:sticky lg:top-5"
    >
      <div className="flex min-h-8 flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="text-xl font-semibold tracking-tight">Inbox</h1>
        {openCount !== null && (
          <p className="text-sm text-muted tabular-nums">{openCount} open in all</p>
        )}
      </div>
      <Filters filters={filters} labels={labels} />
      {list.isPending && <SkeletonRows what="the questions" rows={6} />}
      <ReadFailure read={{ ...list, refetch: readAgain }} />
      {list.data && rows.length === 0 && <NoQuestions filters={filters} />}
      {rows.length > 0 && (
        <ol
          aria-label={filters.show === 'answered' ? 'Answered questions' : 'Open questions'}
          className="overflow-y-auto rounded-lg border bg-surface lg:max-h-[calc(100dvh-9rem)]"
        >
          {rows.map((row) => (
            <InboxRow
              key={row.uncertaintyId}
              row={row}
              slug={membership.slug}
              filters={filters}
              repositoryLabel={labels.get(row.repoId ?? '')}
              isCurrent={row.uncertaintyId === shownId}
            />
          ))}
        </ol>
      )}
      <MoreButton list={list}>Show more</MoreButton>
    </section>
  );
}

/** Keeps the row of the shown question in view while the keys move through the list. */
function useCurrentInView(shownId: string | undefined): void {
  useEffect(() => {
    if (shownId === undefined) return;
    document.querySelector('[aria-label="Questions"] [aria-current]')?.scrollIntoView({
      block: 'nearest',
    });
  }, [shownId]);
}

const showOptions = [{ value: 'answered', word: 'answered' }] as const;
const mineOptions = [{ value: 'mine', word: 'from my jobs' }] as const;

function Filters({ filters, labels }: { filters: InboxFilters; labels: Map<string, string> }) {
  const navigate = route.useNavigate();
  const narrow = (change: InboxFilters) =>
    navigate({ to: '.', search: (now) => ({ ...now, ...change }), replace: true });
  const repositories = [...labels].map(([value, label]) => ({
    value,
    word: plainText(label) || value,
  }));
  return (
    <search aria-label="Filters" className="flex flex-wrap gap-2">
      <FilterChip
        label="State"
        value={filters.show}
        options={showOptions}
        onChange={(show) => narrow({ show })}
      />
      <FilterChip
        label="Whose"
        value={filters.mine && 'mine'}
        options={mineOptions}
        onChange={(value) => narrow({ mine: value && true })}
      />
      {(repositories.length > 1 || filters.repo !== undefined) && (
        <FilterChip
          label="Repository"
          value={filters.repo}
          options={repositories}
          onChange={(repo) => narrow({ repo })}
        />
      )}
      {filters.run !== undefined && (
        <FilterChip
          label="Run"
          value={filters.run}
          options={[{ value: filters.run, word: filters.run }]}
          onChange={(run) => narrow({ run })}
        />
      )}
    </search>
  );
}

function NoQuestions({ filters }: { filters: InboxFilters }) {
  const { membership } = workspace.useRouteContext();
  if (Object.keys(filters).length > 0) {
    return (
      <EmptyState
        icon="inbox"
        title="No question matches"
        action={
          <Link
            to="/w/$slug/inbox"
            params={{ slug: membership.slug }}
            search={{}}
            className={buttonClasses()}
          >
            Show all open questions
          </Link>
        }
      >
        Other questions may be open.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="inbox"
      title="No open questions"
      guide="/docs/guides/questions"
      action={
        <Link
          to="/w/$slug/jobs"
          params={{ slug: membership.slug }}
          search={{}}
          className={buttonClasses()}
        >
          See the jobs
        </Link>
      }
    >
      An agent that is unsure asks here, and its job waits for the answer.
    </EmptyState>
  );
}

function BackToList({ slug, filters }: { slug: string; filters: InboxFilters }) {
  return (
    <Link
      to="/w/$slug/inbox"
      params={{ slug }}
      search={filters}
      className="inline-flex h-8 items-center gap-1 justify-self-start rounded-md text-sm text-muted hover:text-ink pointer-coarse:h-11"
    >
      <Icon name="arrow-left" />
      Inbox
    </Link>
  );
}

/** Beside an answer: the next open question of the list. */
function NextLink({ to: { uncertaintyId } }: { to: DecisionRow }) {
  const { membership } = workspace.useRouteContext();
  return (
    <Link
      to="/w/$slug/inbox/$uncertaintyId"
      params={{ slug: membership.slug, uncertaintyId }}
      search={(now) => now}
      className={buttonClasses('plain', 'ml-auto h-9')}
    >
      Next question
    </Link>
  );
}
