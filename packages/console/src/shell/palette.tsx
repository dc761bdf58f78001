import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useRef, useState } from 'react';
import type { Membership } from '../api/session-queries.ts';
import { activeKeys } from '../keys/key-registry.ts';
import { Icon } from '../parts/page/icon.tsx';
import { Keys } from '../parts/page/keys.tsx';
import { type PaletteGroup, type PaletteItem, usePaletteGroups } from './palette-items.ts';
import { PALETTE_KEYS } from './palette-keys.ts';

interface PaletteProps {
  membership: Membership;
  workspaces: readonly Membership[];
  onClose: () => void;
}

/** Searches pages, jobs, repositories and agents, and the actions of the page that is shown. */
export function Palette({ membership, workspaces, onClose }: PaletteProps) {
  const [open, setOpen] = useState(true);
  const [text, setText] = useState('');
  // The actions of the page below, as they were when the palette opened.
  const [actions] = useState(() => activeKeys().filter(({ keys }) => keys !== PALETTE_KEYS));
  const chosen = useRef<PaletteItem>(null);
  const { groups, isReading } = usePaletteGroups({ text, membership, workspaces, actions });
  const choose = (item: PaletteItem) => {
    chosen.current = item;
    setOpen(false);
  };
  return (
    <Dialog.Root
      open={open}
      onOpenChange={setOpen}
      onOpenChangeComplete={(isOpen) => {
        if (isOpen) return;
        onClose();
        // After the focus has gone back to the page, so that an action may move it.
        setTimeout(() => chosen.current?.act());
      }}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-20 bg-[#0008]" />
        <Dialog.Popup
          aria-label="Search and run commands"
          className="fixed inset-x-2 top-2 z-30 flex max-h-[min(30rem,calc(100dvh-1rem))] flex-col overflow-hidden rounded-xl border bg-raised shadow-popup sm:inset-x-auto sm:top-[12vh] sm:left-1/2 sm:w-[36rem] sm:max-w-[calc(100vw-2rem)] sm:-translate-x-1/2"
        >
          <Autocomplete.Root
            open
            inline
            items={groups}
            filter={null}
            autoHighlight="always"
            keepHighlight
            value={text}
            onValueChange={(value, { reason }) => {
              if (reason !== 'item-press') setText(value);
            }}
            itemToStringValue={({ label }: PaletteItem) => label}
          >
            <SearchLine isReading={isReading} />
            <div className="min-h-0 grow overflow-y-auto overscroll-contain border-t">
              <Autocomplete.Empty>
                {!isReading && (
                  <p className="px-4 py-6 text-sm text-muted">
                    Nothing found. A job is found by a part of its title or by its ID.
                  </p>
                )}
              </Autocomplete.Empty>
              <Autocomplete.List aria-label="Results" className="p-1.5 empty:hidden">
                {(group: PaletteGroup) => (
                  <Group key={group.value} group={group} onChoose={choose} />
                )}
              </Autocomplete.List>
            </div>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function SearchLine({ isReading }: { isReading: boolean }) {
  return (
    <div className="flex shrink-0 items-center gap-2 pr-2 pl-4">
      <Icon name="search" className={isReading ? 'animate-pulse text-accent' : 'text-muted'} />
      <Autocomplete.Input
        aria-label="Search and run commands"
        placeholder="A page, job, repository, agent or action"
        className="h-12 min-w-0 grow bg-transparent text-base outline-none placeholder:text-faint pointer-coarse:text-[1rem]"
      />
      <Dialog.Close
        aria-label="Close"
        className="grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink pointer-coarse:size-11"
      >
        <Icon name="x" />
      </Dialog.Close>
    </div>
  );
}

function Group({
  group,
  onChoose,
}: {
  group: PaletteGroup;
  onChoose: (item: PaletteItem) => void;
}) {
  return (
    <Autocomplete.Group items={group.items} className="not-first:mt-1">
      <Autocomplete.GroupLabel className="flex h-7 items-center px-2.5 text-xs font-medium text-muted">
        {group.value}
      </Autocomplete.GroupLabel>
      <Autocomplete.Collection>
        {(item: PaletteItem) => (
          <Autocomplete.Item
            key={item.id}
            value={item}
            onClick={() => onChoose(item)}
            className="flex h-row-compact cursor-pointer items-center gap-2.5 rounded-md px-2.5 text-sm data-highlighted:bg-accent-soft pointer-coarse:h-11"
          >
            <Icon name={item.icon} className={item.tone ?? 'text-muted'} />
            <span className="min-w-0 truncate">{item.label}</span>
            {item.note && <span className="ml-auto shrink-0 text-xs text-muted">{item.note}</span>}
            {item.keys && (
              <span className="ml-auto shrink-0 pointer-coarse:hidden">
                <Keys keys={item.keys} />
              </span>
            )}
          </Autocomplete.Item>
        )}
      </Autocomplete.Collection>
    </Autocomplete.Group>
  );
}
