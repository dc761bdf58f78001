import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { RefObject } from 'react';
import type { LogRef } from '../api/log-queries.ts';
import { saveLog } from '../api/save-file.ts';
import { formatBytes } from '../format/bytes.ts';
import { type LogFilter, logFilters, logFilterWords } from '../format/log-filter.ts';
import { Button } from '../parts/form/button.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { ErrorNotice } from '../parts/status/error-notice.tsx';
import type { FilteredLines } from './use-filtered-lines.ts';
import type { LogSearch } from './use-log-search.ts';

const selectLook =
  'h-8 rounded-md border border-control/60 bg-canvas px-2 text-sm text-ink pointer-coarse:h-11';

interface LogToolbarProps {
  log: LogRef;
  head: {
    attempts: { attempt: number; lines: number }[];
    totalLines: number;
    sizeBytes: number;
  };
  search: LogSearch;
  searchRef: RefObject<HTMLInputElement | null>;
  /** The person has finished searching. */
  onLeaveSearch: () => void;
  hasTimes: boolean;
  onTimes: (hasTimes: boolean) => void;
  /** Undefined: nothing to follow. */
  follow: boolean | undefined;
  onFollow: (follow: boolean) => void;
  groups: number;
  folded: number;
  onFoldAll: (isFolded: boolean) => void;
  failureLine: number | undefined;
  only: LogFilter | undefined;
  onOnly: (only: LogFilter | undefined) => void;
  filtered: FilteredLines;
  /** How many lines a filter leaves, where that is known. */
  choices: Readonly<Partial<Record<LogFilter, number>>>;
  onGoTo: (line: number) => void;
}

/** The controls of a log. */
export function LogToolbar(props: LogToolbarProps) {
  const { log, head, search, follow, groups, folded, failureLine, only, filtered } = props;
  const save = useMutation({ mutationFn: () => saveLog(log) });
  const error = search.error ?? filtered.error ?? save.error;
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b max-sm:gap-x-2 bg-surface px-2 py-1.5 text-xs text-muted">
      <SearchField
        search={search}
        inputRef={props.searchRef}
        onLeave={props.onLeaveSearch}
        filtered={only === undefined ? undefined : filtered}
      />
      <FilterChoice only={only} onOnly={props.onOnly} choices={props.choices} />
      <span className="tabular-nums max-sm:hidden">
        {head.totalLines.toLocaleString('en')} {head.totalLines === 1 ? 'line' : 'lines'},{' '}
        {formatBytes(head.sizeBytes)}
      </span>
      <span className="ml-auto flex flex-wrap items-center gap-x-3 gap-y-1 max-sm:gap-x-2">
        {failureLine !== undefined && only === undefined && (
          <Button look="quiet" onClick={() => props.onGoTo(failureLine)}>
            Go to the failure
          </Button>
        )}
        {groups > 0 && only === undefined && (
          <Button look="quiet" onClick={() => props.onFoldAll(folded < groups)}>
            {folded < groups ? 'Fold groups' : 'Unfold groups'}
          </Button>
        )}
        <AttemptChoice attempt={log.attempt} attempts={head.attempts} />
        <Toggle label="Times" checked={props.hasTimes} onChange={props.onTimes} />
        {follow !== undefined && (
          <Toggle label="Follow" checked={follow} onChange={props.onFollow} />
        )}
        <Button look="quiet" busy={save.isPending} onClick={() => save.mutate()}>
          <Icon name="download" />
          <span className="max-sm:sr-only">Download</span>
        </Button>
      </span>
      {error !== undefined && error !== null && (
        <div className="basis-full">
          <ErrorNotice error={error} />
        </div>
      )}
    </div>
  );
}

interface SearchFieldProps {
  search: LogSearch;
  inputRef: RefObject<HTMLInputElement | null>;
  onLeave: () => void;
  /** The lines of a filter: the search narrows them instead of moving to lines. */
  filtered: FilteredLines | undefined;
}

function SearchField({ search, inputRef, onLeave, filtered }: SearchFieldProps) {
  const hasLines = search.lines.length > 0;
  return (
    <form
      className="flex min-w-0 items-center gap-1 max-sm:basis-full"
      onSubmit={(event) => {
        event.preventDefault();
        if (filtered === undefined) search.toNext();
      }}
    >
      <span className="relative min-w-0 max-sm:grow">
        <Icon
          name="search"
          className="pointer-events-none absolute top-1/2 left-2 -translate-y-1/2 text-faint"
        />
        <input
          ref={inputRef}
          type="search"
          aria-label="Search the log"
          placeholder="Search the log"
          maxLength={200}
          value={search.typed}
          onChange={(event) => search.onType(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && event.shiftKey && filtered === undefined) {
              event.preventDefault();
              search.toPrevious();
            }
            if (event.key === 'Escape') {
              search.onType('');
              onLeave();
            }
          }}
          className="h-8 w-56 rounded-md border border-control/60 bg-canvas pr-2 pl-7 text-sm text-ink placeholder:text-faint max-sm:w-full pointer-coarse:h-11"
        />
      </span>
      {filtered === undefined && (
        <>
          <Button
            look="quiet"
            aria-label="Previous match"
            disabled={!hasLines}
            onClick={search.toPrevious}
            className="px-2"
          >
            <Icon name="arrow-up" />
          </Button>
          <Button
            look="quiet"
            aria-label="Next match"
            disabled={!hasLines}
            onClick={search.toNext}
            className="px-2"
          >
            <Icon name="arrow-down" />
          </Button>
        </>
      )}
      <span role="status" className="whitespace-nowrap tabular-nums">
        {filtered === undefined ? foundText(search) : filteredText(filtered, search.text)}
      </span>
    </form>
  );
}

function filteredText({ lines, total, isBusy, isCut }: FilteredLines, searched: string): string {
  if (isBusy && total === 0) return 'Searching …';
  const all = `${total.toLocaleString('en')}${isCut ? '+' : ''}`;
  return searched === '' ? '' : `${lines.length.toLocaleString('en')} of ${all}`;
}

interface FilterChoiceProps extends Pick<LogToolbarProps, 'only' | 'onOnly' | 'choices'> {}

/** A filter without lines is offered only when it is the present one. */
function FilterChoice({ only, onOnly, choices }: FilterChoiceProps) {
  const offered = logFilters.filter((each) => each === only || choices[each] !== 0);
  return (
    <select
      aria-label="Show"
      value={only ?? ''}
      onChange={({ target }) => onOnly(offered.find((each) => each === target.value))}
      className={`${selectLook} max-sm:w-32`}
    >
      <option value="">Everything</option>
      {offered.map((each) => (
        <option key={each} value={each}>
          {logFilterWords[each]}
          {choices[each] !== undefined && ` (${choices[each].toLocaleString('en')})`}
        </option>
      ))}
    </select>
  );
}

function foundText({ text, isBusy, error, lines, isCut, at }: LogSearch): string {
  if (text === '' || error !== undefined) return '';
  if (isBusy && lines.length === 0) return 'Searching …';
  if (lines.length === 0) return 'Not found';
  const count = `${lines.length.toLocaleString('en')}${isCut ? '+' : ''}`;
  if (at >= 0) return `${(at + 1).toLocaleString('en')} of ${count}`;
  return `${count} ${lines.length === 1 ? 'line' : 'lines'}`;
}

interface ToggleProps {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

function Toggle({ label, checked, onChange }: ToggleProps) {
  return (
    <label className="flex min-h-8 cursor-pointer items-center gap-1.5 pointer-coarse:min-h-11">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
        className="size-4 accent-accent-fill"
      />
      {label}
    </label>
  );
}

interface AttemptChoiceProps {
  attempt: number;
  attempts: readonly { attempt: number; lines: number }[];
}

function AttemptChoice({ attempt, attempts }: AttemptChoiceProps) {
  const navigate = useNavigate();
  const known = attempts.some((each) => each.attempt === attempt)
    ? attempts
    : [...attempts, { attempt, lines: 0 }];
  if (known.length < 2) return null;
  return (
    <select
      aria-label="Attempt"
      value={attempt}
      onChange={(event) =>
        void navigate({
          to: '.',
          search: (now: Record<string, unknown>) => ({
            ...now,
            attempt: Number(event.target.value),
          }),
        })
      }
      className={selectLook}
    >
      {known.map((each) => (
        <option key={each.attempt} value={each.attempt}>
          Attempt {each.attempt}
        </option>
      ))}
    </select>
  );
}
