import type { ReactNode } from 'react';

/** A list of names and values; null values are skipped. */
export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm">
      {rows
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="py-0.5 text-muted">{name}</dt>
            <dd className="min-w-0 py-0.5 wrap-anywhere">{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A titled part of a page. */
export function Panel({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border bg-surface p-4 sm:p-5">
      <h2 className="text-sm font-semibold">{title}</h2>
      {children}
    </section>
  );
}
