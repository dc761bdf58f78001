import type { Membership, Person } from '../api/session-queries.ts';
import { classNames } from '../class-names.ts';
import { Icon } from '../parts/page/icon.tsx';
import { Keys } from '../parts/page/keys.tsx';
import { AccountMenu } from './account-menu.tsx';
import { ConnectionSign } from './connection-sign.tsx';
import { type NavEntry, useNavEntries } from './nav-entries.ts';
import { NavLink } from './nav-link.tsx';
import { OpenDecisionsBadge } from './open-decisions.tsx';
import { PaletteButton } from './palette-button.tsx';
import { PALETTE_KEYS } from './palette-keys.ts';
import { sidebarClasses } from './shell-layout.ts';
import { toggleSidebar } from './sidebar-width.ts';
import { WorkspaceMenu } from './workspace-menu.tsx';

interface SidebarProps {
  person: Person;
  workspaces: readonly Membership[];
  membership: Membership;
}

const linkClasses = classNames(
  'relative flex h-8 items-center gap-2 rounded-md px-2 text-sm font-medium text-muted',
  'hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:text-ink',
  'pointer-coarse:h-11',
);

/** Navigation from tablets on: 208 px wide, or 48 px with the icons only. */
export function Sidebar({ person, workspaces, membership }: SidebarProps) {
  const entries = useNavEntries();
  const list = (shown: readonly NavEntry[]) =>
    shown.map((entry) => (
      <li key={entry.path}>
        <NavLink entry={entry} slug={membership.slug} className={linkClasses}>
          <Icon name={entry.icon} />
          <span className="min-w-0 grow truncate narrow:sr-only">{entry.word}</span>
          {entry.path === 'inbox' && (
            <span className="narrow:absolute narrow:top-0 narrow:right-0 narrow:scale-75">
              <OpenDecisionsBadge workspaceId={membership.workspaceId} />
            </span>
          )}
        </NavLink>
      </li>
    ));
  const apart = entries.filter((entry) => entry.apart);
  return (
    <header className={classNames(sidebarClasses, 'gap-2 p-2')}>
      <WorkspaceMenu current={membership} workspaces={workspaces} />
      <PaletteButton className="flex h-8 shrink-0 items-center gap-2 rounded-md border bg-surface px-2 text-sm text-muted hover:bg-hover hover:text-ink narrow:border-transparent narrow:bg-transparent pointer-coarse:h-11">
        <span className="grow text-left narrow:sr-only">
          Search
          <span className="sr-only"> and run commands</span>
        </span>
        <span aria-hidden="true" className="narrow:hidden pointer-coarse:hidden">
          <Keys keys={PALETTE_KEYS} />
        </span>
      </PaletteButton>
      <nav aria-label="Workspace" className="grow overflow-y-auto">
        <ul className="grid gap-0.5">{list(entries.filter((entry) => !entry.apart))}</ul>
        {apart.length > 0 && <ul className="mt-2 grid gap-0.5 border-t pt-2">{list(apart)}</ul>}
      </nav>
      <ConnectionSign />
      <div className="flex items-center gap-1 narrow:flex-col">
        <AccountMenu person={person} />
        <button
          type="button"
          aria-label="Collapse or expand the sidebar"
          title="Collapse or expand the sidebar"
          onClick={toggleSidebar}
          className="grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink pointer-coarse:size-11"
        >
          <Icon name="panel-left" />
        </button>
      </div>
    </header>
  );
}
