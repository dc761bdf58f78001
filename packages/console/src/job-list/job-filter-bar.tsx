import { jobKinds } from 'virtual:contract-data';
import { type RefObject, useEffect, useState } from 'react';
import { classNames } from '../class-names.ts';
import {
  type Age,
  ageWords,
  type JobFilters,
  jobGroups,
  type StatusFilter,
} from '../format/job-filters.ts';
import { kindWords, statusWords } from '../format/job-words.ts';
import { plainText } from '../format/text.ts';
import { FilterChip } from '../parts/form/filter-chip.tsx';
import { Icon } from '../parts/page/icon.tsx';

/** A pause in typing after which the list is searched. */
const TYPING_MS = 250;

const statusOptions: readonly { value: StatusFilter; word: string }[] = [
  ...jobGroups.map(({ name, word }) => ({ value: name, word })),
  { value: 'done', word: statusWords.done },
  { value: 'canceled', word: statusWords.canceled },
  { value: 'all', word: 'any, newest first' },
];
const kindOptions = jobKinds.map((value) => ({ value, word: kindWords[value] }));
// The keys of a record of all ages.
const ageOptions = (Object.keys(ageWords) as Age[]).map((value) => ({
  value,
  word: ageWords[value],
}));

interface JobFilterBarProps {
  filters: JobFilters;
  labels: ReadonlyMap<string, string>;
  agentNames: ReadonlyMap<string, string>;
  searchRef: RefObject<HTMLInputElement | null>;
  onChange: (change: { [Name in keyof JobFilters]: JobFilters[Name] | undefined }) => void;
}

/** The filters of the list: one chip each, and the search. */
export function JobFilterBar(props: JobFilterBarProps) {
  const { filters, labels, agentNames, searchRef, onChange } = props;
  return (
    <search className="flex flex-wrap items-center gap-2">
      <SearchField
        text={filters.q ?? ''}
        inputRef={searchRef}
        onChange={(q) => onChange({ q: q || undefined, ...(q === '' && { in: undefined }) })}
      />
      {filters.q && (
        <SwitchChip
          word="In logs"
          isOn={filters.in === 'logs'}
          onChange={(isOn) => onChange({ in: isOn && 'logs' })}
        />
      )}
      <FilterChip
        label="Status"
        value={filters.status}
        options={statusOptions}
        onChange={(status) => onChange({ status })}
      />
      <SwitchChip
        word="Mine"
        isOn={filters.mine === true}
        onChange={(mine) => onChange({ mine })}
      />
      <SwitchChip
        word="Landed and closed"
        isOn={filters.ended === true}
        onChange={(ended) => onChange({ ended })}
      />
      <FilterChip
        label="Kind"
        value={filters.kind}
        options={kindOptions}
        onChange={(kind) => onChange({ kind })}
      />
      <FilterChip
        label="Repository"
        value={filters.repo}
        options={optionsOf(labels, filters.repo)}
        onChange={(repo) => onChange({ repo })}
      />
      <FilterChip
        label="Agent"
        value={filters.agent}
        options={optionsOf(agentNames, filters.agent)}
        onChange={(agent) => onChange({ agent })}
      />
      {filters.run && (
        <FilterChip
          label="Run"
          value={filters.run}
          options={optionsOf(new Map(), filters.run)}
          onChange={(run) => onChange({ run })}
        />
      )}
      <FilterChip
        label="Created"
        value={filters.since}
        options={ageOptions}
        onChange={(since) => onChange({ since })}
      />
    </search>
  );
}

interface SwitchChipProps {
  word: string;
  isOn: boolean;
  onChange: (isOn: true | undefined) => void;
}

function SwitchChip({ word, isOn, onChange }: SwitchChipProps) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={() => onChange(isOn ? undefined : true)}
      className={classNames(
        'inline-flex h-7 items-center rounded-full border px-2.5 text-sm pointer-coarse:h-11',
        isOn ? 'border-accent/40 bg-accent-soft text-accent' : 'border-dashed text-muted',
      )}
    >
      {word}
    </button>
  );
}

/** The names as options, by word; a value that has no name is shown by its ID. */
function optionsOf(names: ReadonlyMap<string, string>, value: string | undefined) {
  const options = [...names].map(([id, name]) => ({ value: id, word: plainText(name) || id }));
  if (value !== undefined && !names.has(value)) options.push({ value, word: value });
  return options.sort((a, b) => a.word.localeCompare(b.word));
}

interface SearchFieldProps {
  text: string;
  inputRef: RefObject<HTMLInputElement | null>;
  onChange: (text: string) => void;
}

function SearchField({ text, inputRef, onChange }: SearchFieldProps) {
  const [typed, setTyped] = useState(text);
  const [shown, setShown] = useState(text);
  // The URL has changed otherwise, for instance by going back.
  if (text !== shown) {
    setShown(text);
    setTyped(text);
  }
  useEffect(() => {
    if (typed.trim() === text) return;
    const timer = setTimeout(() => onChange(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, text, onChange]);
  const clear = () => {
    setTyped('');
    onChange('');
  };
  return (
    <span className="relative inline-flex w-full items-center sm:w-56">
      <Icon name="search" className="pointer-events-none absolute left-2.5 size-3.5 text-faint" />
      <input
        ref={inputRef}
        type="search"
        aria-label="Search jobs"
        placeholder="Search jobs"
        maxLength={200}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          // Back to the list and its keys.
          if (event.key === 'Escape') event.currentTarget.closest('main')?.focus();
        }}
        className="h-8 w-full rounded-md border border-control bg-surface px-8 text-sm placeholder:text-faint pointer-coarse:h-11 pointer-coarse:text-lg [&::-webkit-search-cancel-button]:hidden"
      />
      {typed !== '' && (
        <button
          type="button"
          aria-label="Clear the search"
          onClick={clear}
          className="absolute right-1 grid size-6 place-items-center rounded-md text-muted hover:bg-hover pointer-coarse:size-11"
        >
          <Icon name="x" className="size-3.5" />
        </button>
      )}
    </span>
  );
}
