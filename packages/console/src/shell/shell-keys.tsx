import { type LinkProps, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import type { Membership } from '../api/session-queries.ts';
import { handleKey } from '../keys/key-registry.ts';
import { useKeys } from '../keys/use-keys.ts';
import { useNavEntries } from './nav-entries.ts';
import { PALETTE_KEYS } from './palette-keys.ts';
import { toggleSidebar } from './sidebar-width.ts';

const KeyList = lazy(async () => ({ default: (await import('./key-list.tsx')).KeyList }));

const loadPalette = () => import('./palette.tsx');
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }));

interface ShellKeysProps {
  membership: Membership;
  workspaces: readonly Membership[];
}

/** The keys that work on every page of a workspace, the list of all keys, and the palette. */
export function ShellKeys({ membership, workspaces }: ShellKeysProps) {
  const { slug } = membership;
  const navigate = useNavigate();
  const entries = useNavEntries();
  const [isListShown, setListShown] = useState(false);
  const [isPaletteShown, setPaletteShown] = useState(false);
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
    {
      keys: PALETTE_KEYS,
      label: 'Search and run commands',
      group: 'Everywhere',
      // Another dialog keeps the keyboard to itself.
      act: () => {
        if (document.querySelector('[role=dialog], [role=alertdialog]') === null) {
          setPaletteShown(true);
        }
      },
    },
    { keys: '?', label: 'Show the keys', group: 'Everywhere', act: () => setListShown(true) },
  ]);
  return (
    <Suspense fallback={null}>
      {isListShown && <KeyList onClose={() => setListShown(false)} />}
      {isPaletteShown && (
        <Palette
          membership={membership}
          workspaces={workspaces}
          onClose={() => setPaletteShown(false)}
        />
      )}
    </Suspense>
  );
}
