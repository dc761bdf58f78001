import { classNames } from '../../class-names.ts';

/** Heights of rows, as in the real list, so that nothing moves when the data arrives. */
const heights = { dense: 'h-row-dense', compact: 'h-row-compact', normal: 'h-row' } as const;

interface SkeletonRowsProps {
  /** Completes the sentence "Loading …" for screen readers. */
  what: string;
  rows: number;
  height?: keyof typeof heights;
  className?: string;
}

/** Grey rows in place of a list that is being read, as high as the rows that will replace them. */
export function SkeletonRows({ what, rows, height = 'normal', className }: SkeletonRowsProps) {
  return (
    <div
      role="status"
      className={classNames('overflow-hidden rounded-lg border bg-surface', className)}
    >
      <span className="sr-only">Loading {what} …</span>
      {Array.from({ length: rows }, (_, row) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move.
          key={row}
          className={classNames(
            'flex items-center gap-3 border-b px-3 last:border-b-0 sm:px-4',
            heights[height],
          )}
        >
          <SkeletonBar className="size-4 rounded-full" />
          <SkeletonBar className={barWidths[row % barWidths.length]} />
          <SkeletonBar className="ml-auto w-14" />
        </div>
      ))}
    </div>
  );
}

/** Varied, so that the rows look like a list and not like a table of bars. */
const barWidths = ['w-2/5', 'w-3/5', 'w-1/3', 'w-1/2'];

/** One grey bar in place of a word or a line. */
export function SkeletonBar({ className }: { className?: string | undefined }) {
  return <span className={classNames('block h-3 animate-pulse rounded bg-line', className)} />;
}

/** Shown while a page's code or data is loading: a heading and the rows of a list. */
export function PageSkeleton() {
  return (
    <div className="mx-auto grid max-w-6xl grid-cols-[minmax(0,1fr)] gap-4">
      <h1 className="sr-only">Loading</h1>
      <div className="flex h-8 items-center">
        <SkeletonBar className="h-5 w-32" />
      </div>
      <SkeletonRows what="the page" rows={8} />
    </div>
  );
}
