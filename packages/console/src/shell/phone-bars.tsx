import type { Membership, Person } from '../api/session-queries.ts';
import { classNames } from '../class-names.ts';
import { lazyMenu, MenuButton } from '../parts/form/menu-button.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { AccountMenu } from './account-menu.tsx';
import { ConnectionSign } from './connection-sign.tsx';
import { PHONE_ENTRIES_MAX, useNavEntries } from './nav-entries.ts';
import { NavLink } from './nav-link.tsx';
import { OpenDecisionsBadge } from './open-decisions.tsx';
import { PaletteButton } from './palette-button.tsx';
import { topBarClasses } from './shell-layout.ts';
import { WorkspaceMenu } from './workspace-menu.tsx';

const { Popup, preload } = lazyMenu(
  async () => (await import('./more-menu-popup.tsx')).MoreMenuPopup,
);

interface TopBarProps {
  person: Person;
  workspaces: readonly Membership[];
  membership: Membership;
}

/** The bar at the top of phones: the workspace, the connection, search and the account. */
export function TopBar({ person, workspaces, membership }: TopBarProps) {
  return (
    <header className={topBarClasses}>
      <WorkspaceMenu current={membership} workspaces={workspaces} />
      <ConnectionSign isSmall />
      <PaletteButton className="grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink pointer-coarse:size-11" />
      <AccountMenu person={person} />
    </header>
  );
}

const entryClasses = classNames(
  'relative flex h-full min-w-0 flex-1 flex-col items-center justify-center gap-0.5 text-xs text-muted',
  'aria-[current=page]:font-medium aria-[current=page]:text-accent',
);

/** The navigation of phones, 56 px at the lower edge, where a thumb reaches it. */
export function BottomBar({ membership }: { membership: Membership }) {
  const { slug } = membership;
  const entries = useNavEntries();
  const isHere = (at: number) => at < PHONE_ENTRIES_MAX && !entries[at]?.apart;
  const more = entries.filter((_, at) => !isHere(at));
  return (
    <nav
      aria-label="Workspace"
      className="fixed inset-x-0 bottom-0 z-10 flex h-phone-bar items-stretch border-t bg-canvas pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {entries
        .filter((_, at) => isHere(at))
        .map((entry) => (
          <NavLink key={entry.path} entry={entry} slug={slug} className={entryClasses}>
            <Icon name={entry.icon} className="size-5" />
            <span className="max-w-full truncate">{entry.word}</span>
            {entry.path === 'inbox' && (
              <span className="absolute top-0.5 left-1/2 ml-1">
                <OpenDecisionsBadge workspaceId={membership.workspaceId} />
              </span>
            )}
          </NavLink>
        ))}
      {more.length > 0 && (
        <MenuButton
          label="More pages"
          preload={preload}
          popup={(state) => <Popup slug={slug} entries={more} {...state} />}
          className={entryClasses}
        >
          <Icon name="ellipsis" className="size-5" />
          <span>More</span>
        </MenuButton>
      )}
    </nav>
  );
}
