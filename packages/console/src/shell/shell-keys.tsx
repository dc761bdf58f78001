import { type LinkProps, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { handleKey } from '../keys/key-registry.ts';
import { useKeys } from '../keys/use-keys.ts';
import { useNavEntries } from './nav-entries.ts';
import { toggleSidebar } from './sidebar-width.ts';

const KeyList = lazy(async () => ({ default: (await import('./key-list.tsx')).KeyList }));

/** The keys that work on every page of a workspace, and the list of all keys. */
export function ShellKeys({ slug }: { slug: string }) {
  const navigate = useNavigate();
  const entries = useNavEntries();
  const [isListShown, setListShown] = useState(false);
  useEffect(() => {
    document.addEventListener('keydown', handleKey);
    return () => document.removeEventListener('keydown', handleKey);
  }, []);
  useKeys([
    ...entries.map(({ word, path, key }) => ({
      keys: `g ${key}`,
      label: `Go to ${word}`,
      group: 'Pages',
      act: () =>
        void navigate({
          to: `/w/$slug/${path}` as NonNullable<LinkProps['to']>,
          params: { slug },
        }),
    })),
    {
      keys: '[',
      label: 'Collapse or expand the sidebar',
      group: 'Everywhere',
      act: toggleSidebar,
    },
    { keys: '?', label: 'Show the keys', group: 'Everywhere', act: () => setListShown(true) },
  ]);
  if (!isListShown) return null;
  return (
    <Suspense fallback={null}>
      <KeyList onClose={() => setListShown(false)} />
    </Suspense>
  );
}
