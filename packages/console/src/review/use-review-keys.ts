import { useKeys } from '../keys/use-keys.ts';
import type { ReviewFile } from './review-files.ts';
import type { ReviewRow } from './review-rows.ts';

interface ReviewKeys {
  rows: readonly ReviewRow[];
  /** The place of the current row; -1: none. */
  current: number;
  onCurrent: (key: string) => void;
  onComment: () => void;
  onViewed: (file: ReviewFile) => void;
}

/** The keys of a review. */
export function useReviewKeys({ rows, current, onCurrent, onComment, onViewed }: ReviewKeys): void {
  const group = 'Changes';
  const goTo = (row: ReviewRow | undefined) => row && onCurrent(row.key);
  const before = rows.slice(0, Math.max(0, current));
  const after = rows.slice(current + 1);
  // The first changed line of a part is the place to begin at.
  const isHunk = (row: ReviewRow, at: number, among: readonly ReviewRow[]) =>
    isChange(row) && !(among[at - 1] !== undefined && isChange(among[at - 1]));
  useKeys([
    {
      keys: 'j',
      label: 'Next file',
      group,
      act: () => goTo(after.find(({ type }) => type === 'file')),
    },
    {
      keys: 'k',
      label: 'Previous file',
      group,
      act: () => goTo(before.findLast(({ type }) => type === 'file')),
    },
    {
      keys: 'n',
      label: 'Next change',
      group,
      act: () =>
        goTo(
          after.find((row, at) => isHunk(row, at, after) && !(at === 0 && isChange(rows[current]))),
        ),
    },
    {
      keys: 'p',
      label: 'Previous change',
      group,
      act: () => goTo(before.findLast(isHunk)),
    },
    { keys: 'c', label: 'Comment on the lines', group, act: onComment },
    {
      keys: 'v',
      label: 'Mark the file as viewed, or not',
      group,
      act: () => {
        const file = fileAt(rows, current);
        if (file) onViewed(file);
      },
    },
  ]);
}

function isChange(row: ReviewRow | undefined): boolean {
  return row?.type === 'lines' && row.left !== row.right;
}

/** The file to which a row belongs. */
export function fileAt(rows: readonly ReviewRow[], at: number): ReviewFile | undefined {
  const head = rows.slice(0, at + 1).findLast(({ type }) => type === 'file');
  return head?.type === 'file' ? head.file : undefined;
}
