import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ReadFailure } from '../status/read-failure.tsx';
import { SkeletonRows } from '../status/skeleton.tsx';

interface SectionProps {
  title: string;
  description?: ReactNode;
  /** At the right of the title. */
  action?: ReactNode;
  children?: ReactNode;
}

/** A titled block of a settings page. */
export function Section({ title, description, action, children }: SectionProps) {
  return (
    <section className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="grid min-w-0 gap-0.5">
          <h2 className="font-semibold">{title}</h2>
          {description && <p className="max-w-prose text-sm text-muted">{description}</p>}
        </div>
        {action}
      </div>
      {children}
    </section>
  );
}

/** A surface around a form or facts. */
export function Sheet({ children }: { children: ReactNode }) {
  return <div className="grid gap-4 rounded-lg border bg-surface p-4 sm:p-5">{children}</div>;
}

interface RecordsProps<Data> {
  /** Completes "Loading …". */
  what: string;
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}

/** A list that is read: rows of true height while it is, and its failure in its place. */
export function Records<Data>({ what, query, children }: RecordsProps<Data>) {
  if (query.isPending) return <SkeletonRows what={what} rows={3} />;
  if (query.data === undefined) return <ReadFailure read={query} />;
  return children(query.data);
}

interface RecordRowsProps<Data, Item> extends Omit<RecordsProps<Data>, 'children'> {
  label: string;
  items: (data: Data) => readonly Item[];
  /** In place of a list without rows. */
  empty?: ReactNode;
  /** A `Row` with a key. */
  children: (item: Item) => ReactNode;
}

/** A list that is read whole, a row for each of its records. */
export function RecordRows<Data, Item>(props: RecordRowsProps<Data, Item>) {
  const { what, query, label, items, empty, children } = props;
  return (
    <Records what={what} query={query}>
      {(data) => {
        const rows = items(data);
        if (rows.length === 0 && empty !== undefined) return empty;
        return <Rows label={label}>{rows.map(children)}</Rows>;
      }}
    </Records>
  );
}

/** The rows of a settings list. */
export function Rows({ label, children }: { label: string; children: ReactNode }) {
  return (
    <ul aria-label={label} className="divide-y overflow-hidden rounded-lg border bg-surface">
      {children}
    </ul>
  );
}

interface RowProps {
  title: ReactNode;
  /** Facts below the title, separated by dots. */
  facts: readonly ReactNode[];
  action?: ReactNode;
}

/** One record: its name, what is known of it, and its actions. */
export function Row({ title, facts, action }: RowProps) {
  const shown = facts.filter((fact) => fact !== null && fact !== false);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-3 py-2 sm:px-4">
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-x-2 font-medium wrap-anywhere">{title}</div>
        {/* The sign before the first fact of each line is outside the box. */}
        <ul className="-ml-3.5 flex flex-wrap overflow-x-clip text-xs text-muted [clip-path:inset(0_0_0_0.875rem)]">
          {shown.map((fact, at) => (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: facts of a record keep their places.
              key={at}
              className="relative pl-3.5 wrap-anywhere before:absolute before:left-1 before:content-['·']"
            >
              {fact}
            </li>
          ))}
        </ul>
      </div>
      {action && <div className="flex flex-wrap gap-2">{action}</div>}
    </li>
  );
}

/** A mark beside a name, such as "you". */
export function Mark({ children }: { children: ReactNode }) {
  return (
    <span className="rounded-full border px-1.5 text-xs font-medium text-muted">{children}</span>
  );
}
