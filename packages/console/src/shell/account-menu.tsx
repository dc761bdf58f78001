import type { Person } from '../api/session-queries.ts';
import { lazyMenu, MenuButton } from '../parts/form/menu-button.tsx';
import { Icon } from '../parts/page/icon.tsx';

const { Popup, preload } = lazyMenu(
  async () => (await import('./account-menu-popup.tsx')).AccountMenuPopup,
);

/** The signed-in person, the theme, and sign-out. */
export function AccountMenu({ person }: { person: Person }) {
  return (
    <MenuButton
      label={`Account of ${person.name}`}
      preload={preload}
      popup={(state) => <Popup person={person} {...state} />}
      className="flex h-8 min-w-0 items-center gap-2 rounded-md px-2 text-sm text-muted hover:bg-hover hover:text-ink md:grow pointer-coarse:h-11 pointer-coarse:min-w-11 pointer-coarse:justify-center"
    >
      <Icon name="circle-user" />
      <span className="hidden min-w-0 truncate md:inline narrow:md:hidden">{person.name}</span>
    </MenuButton>
  );
}
