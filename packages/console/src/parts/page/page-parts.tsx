import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../form/button.tsx';
import { Icon } from './icon.tsx';

/** Classes of a link that covers its whole row. */
export const rowLinkClasses =
  'block truncate font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent';

/** Classes of a link within a row that another link covers. */
export const innerLinkClasses =
  'relative inline-flex h-6 min-w-6 max-w-full items-center text-ink underline-offset-2 hover:underline pointer-coarse:h-11';

/** A page with a heading and a note. */
export function ListPage({
  title,
  note,
  children,
}: {
  title: string;
  note?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="mx-auto grid max-w-6xl grid-cols-[minmax(0,1fr)] gap-4">
      <div className="flex min-h-8 flex-wrap items-baseline gap-x-3">
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {note && <p className="text-sm text-muted">{note}</p>}
      </div>
      {children}
    </div>
  );
}

/** A link to the list that a page belongs to. */
export function BackLink({
  to,
  slug,
  children,
}: {
  to: '/w/$slug/agents' | '/w/$slug/repositories' | '/w/$slug/runs';
  slug: string;
  children: string;
}) {
  return (
    <Link
      to={to}
      params={{ slug }}
      className="inline-flex h-8 items-center gap-1 justify-self-start rounded-md text-sm text-muted hover:text-ink pointer-coarse:h-11"
    >
      <Icon name="arrow-left" />
      {children}
    </Link>
  );
}

/** Reads the next page of a list. */
export function MoreButton({
  list,
  children,
}: {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  children: string;
}) {
  if (!list.hasNextPage) return null;
  return (
    <Button
      className="justify-self-center"
      busy={list.isFetchingNextPage}
      onClick={() => list.fetchNextPage()}
    >
      {children}
    </Button>
  );
}
