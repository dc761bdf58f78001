import { Link } from '@tanstack/react-router';
import type { DecisionRow, InboxFilters } from '../../api/decision-queries.ts';
import { classNames } from '../../class-names.ts';
import { answerLine } from '../../format/resolution-words.ts';
import { plainText } from '../../format/text.ts';
import { formatRelative } from '../../format/time.ts';
import { Icon } from '../page/icon.tsx';
import { RelativeTime, useNow } from '../text/relative-time.tsx';

interface InboxRowProps {
  row: DecisionRow;
  slug: string;
  filters: InboxFilters;
  repositoryLabel: string | undefined;
  isCurrent: boolean;
}

/** A question in the list, two lines high: the question; repository, deadline and age. */
export function InboxRow({ row, slug, filters, repositoryLabel, isCurrent }: InboxRowProps) {
  const { uncertaintyId, title, createdAt, deadlineAt, resolvedAt, answer, alikeIds = [] } = row;
  const isOfSession = row.session !== undefined;
  return (
    <li className="border-b last:border-b-0">
      <Link
        to="/w/$slug/inbox/$uncertaintyId"
        params={{ slug, uncertaintyId }}
        search={filters}
        resetScroll={false}
        aria-current={isCurrent ? 'true' : undefined}
        className={classNames(
          'grid grid-cols-[1rem_minmax(0,1fr)] gap-x-3 gap-y-0.5 px-3 py-2.5 -outline-offset-2 hover:bg-hover sm:px-4',
          isCurrent && 'bg-hover shadow-[inset_3px_0_0_var(--color-attention)]',
        )}
      >
        <RowSign row={row} />
        <span className="line-clamp-2 font-medium wrap-anywhere">
          {alikeIds.length > 0 && (
            <span className="text-attention tabular-nums">{alikeIds.length + 1} × </span>
          )}
          {plainText(title) || uncertaintyId}
        </span>
        <span className="col-start-2 flex min-w-0 items-center gap-2 text-xs text-muted">
          <span className="min-w-0 truncate">
            {answer ? answerLine(answer, { isOfSession }) : plainText(repositoryLabel ?? '')}
          </span>
          <span className="ml-auto flex shrink-0 items-center gap-2">
            {row.waitingJobs !== undefined && row.waitingJobs > 1 && (
              <span>{row.waitingJobs.toLocaleString('en')} jobs wait</span>
            )}
            {deadlineAt && !answer && <DeadlineNote deadlineAt={deadlineAt} />}
            <RelativeTime at={resolvedAt ?? createdAt} />
          </span>
        </span>
      </Link>
    </li>
  );
}

function RowSign({ row: { answer } }: { row: DecisionRow }) {
  if (answer === undefined)
    return <Icon name="circle-question-mark" className="mt-0.5 text-attention" />;
  return answer.mode === 'dismissed' ? (
    <Icon name="circle-slash" className="mt-0.5 text-canceled" />
  ) : (
    <Icon name="circle-check" className="mt-0.5 text-done" />
  );
}

function DeadlineNote({ deadlineAt }: { deadlineAt: string }) {
  const words = useNow((nowMs) =>
    Date.parse(deadlineAt) <= nowMs ? 'Overdue' : `due ${formatRelative(deadlineAt, nowMs)}`,
  );
  return (
    <span className="inline-flex items-center gap-1 font-medium text-warning">
      <Icon name="clock" className="size-3" />
      {words}
    </span>
  );
}
