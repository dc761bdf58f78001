import { useEffect, useState } from 'react';
import { formatAbsolute, formatRelative } from '../../format/time.ts';

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for all times on the page; it stops when no time is shown. */
function onTick(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The current result of `read`; the caller re-renders only when it changes. */
export function useNow<Value>(read: (nowMs: number) => Value): Value {
  const [, setTick] = useState<Value>();
  const value = read(Date.now());
  useEffect(() => onTick(() => setTick(() => read(Date.now()))), [read]);
  return value;
}

/** A time relative to now; the exact time is available on hover and to screen readers. */
export function RelativeTime({ at, className }: { at: string; className?: string }) {
  const text = useNow((nowMs) => formatRelative(at, nowMs));
  return (
    <time dateTime={at} title={formatAbsolute(at)} className={className}>
      {text}
    </time>
  );
}

/** A moment after a word, such as `used 3 min ago`; without one, the words for that. */
export function Moment({ word, at, never }: { word: string; at: string | null; never?: string }) {
  if (at === null) return never;
  return (
    <>
      {word} <RelativeTime at={at} />
    </>
  );
}
