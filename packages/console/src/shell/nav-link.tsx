import { Link, type LinkProps } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import type { NavEntry } from './nav-entries.ts';

interface NavLinkProps extends Omit<ComponentProps<'a'>, 'href' | 'target'> {
  entry: NavEntry;
  slug: string;
}

/** A link to a page of the navigation; the current one is marked. */
export function NavLink({ entry, slug, ...rest }: NavLinkProps) {
  return (
    <Link
      // `useNavEntries` returns only entries that have a route.
      to={`/w/$slug/${entry.path}` as NonNullable<LinkProps['to']>}
      params={{ slug }}
      activeProps={{ 'aria-current': 'page' }}
      activeOptions={{ includeSearch: false }}
      {...rest}
    />
  );
}
