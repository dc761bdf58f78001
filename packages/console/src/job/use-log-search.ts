import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { type LogRef, type LogSize, logSearchQuery } from '../api/log-queries.ts';

/** A search reads the whole log, so it waits for a pause in typing. */
const TYPING_PAUSE_MS = 150;

export interface LogSearch {
  typed: string;
  onType: (text: string) => void;
  /** The text that was searched for; empty: nothing. */
  text: string;
  isBusy: boolean;
  error: unknown;
  lines: readonly number[];
  /** Whether there may be more lines than those. */
  isCut: boolean;
  found: ReadonlySet<number>;
  current: number | undefined;
  /** The place of the current line among the lines; −1 for none. */
  at: number;
  toNext: () => void;
  toPrevious: () => void;
}

const none: readonly number[] = [];

/** A search over the whole log, and the place of the person in its results. */
export function useLogSearch(log: LogRef, size: LogSize, goTo: (line: number) => void): LogSearch {
  const [typed, setTyped] = useState('');
  const [text, setText] = useState('');
  const [place, setPlace] = useState<{ text: string; at: number }>({ text: '', at: -1 });
  useEffect(() => {
    const timer = setTimeout(() => setText(typed), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const { data, isFetching, error } = useQuery(logSearchQuery(log, text, size));
  const lines = useMemo(() => data?.matches.map(({ line }) => line) ?? none, [data]);
  const at = place.text === text ? place.at : -1;
  const move = (step: number) => {
    if (typed !== text) setText(typed);
    if (lines.length === 0) return;
    const start = at === -1 && step < 0 ? 0 : at;
    const next = (start + step + lines.length) % lines.length;
    setPlace({ text, at: next });
    goTo(lines[next] as number);
  };
  return {
    typed,
    text,
    lines,
    at,
    onType: setTyped,
    isBusy: isFetching,
    error: error ?? undefined,
    isCut: data?.isCut ?? false,
    found: useMemo(() => new Set(lines), [lines]),
    current: at === -1 ? undefined : lines[at],
    toNext: () => move(1),
    toPrevious: () => move(-1),
  };
}
