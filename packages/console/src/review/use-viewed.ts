import { useCallback, useState } from 'react';
import type { ReviewFile } from './review-files.ts';

/** Jobs whose marks are kept; the oldest go first. */
const JOBS_KEPT_MAX = 50;
const STORAGE_KEY = 'signalbox.viewed';

type Marks = Record<string, string[]>;

/** The files that this person has viewed, kept in the browser for the next visit. */
export function useViewed(jobId: string): {
  viewed: ReadonlySet<string>;
  setViewed: (file: ReviewFile, isViewed: boolean) => void;
} {
  const [viewed, setAll] = useState<ReadonlySet<string>>(() => new Set(readMarks()[jobId]));
  const setViewed = useCallback(
    ({ id }: ReviewFile, isViewed: boolean) =>
      setAll((before) => {
        const after = new Set(before);
        if (isViewed) after.add(id);
        else after.delete(id);
        storeMarks(jobId, [...after]);
        return after;
      }),
    [jobId],
  );
  return { viewed, setViewed };
}

function readMarks(): Marks {
  try {
    // Only `storeMarks` writes this.
    return (JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') ?? {}) as Marks;
  } catch {
    return {};
  }
}

function storeMarks(jobId: string, ids: string[]): void {
  const { [jobId]: _before, ...others } = readMarks();
  const kept = Object.entries(others).slice(1 - JOBS_KEPT_MAX);
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(Object.fromEntries([...kept, [jobId, ids]])));
  } catch {
    // Storage is disabled or full: the marks last until the page closes.
  }
}
