import { Menu } from '@base-ui/react/menu';
import { Link } from '@tanstack/react-router';
import type { Membership } from '../api/session-queries.ts';
import { Icon } from './icon.tsx';

export const menuPopupClasses =
  'z-20 min-w-52 max-w-80 rounded-lg border bg-raised p-1 shadow-popup outline-none';
export const menuItemClasses =
  'flex min-h-8 items-center gap-2 rounded-md px-2 text-sm outline-none select-none ' +
  'data-highlighted:bg-hover pointer-coarse:min-h-11';

interface WorkspaceMenuProps {
  current: Membership;
  workspaces: readonly Membership[];
}

/** The current workspace, and links to the others. */
export function WorkspaceMenu({ current, workspaces }: WorkspaceMenuProps) {
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        aria-label={`Workspace ${current.name}. Switch workspace`}
        className="flex h-9 min-w-0 grow items-center gap-2 rounded-md px-2 text-left font-semibold md:grow-0 hover:bg-hover pointer-coarse:h-11"
      >
        <Initial name={current.name} />
        <span className="min-w-0 grow truncate">{current.name}</span>
        <Icon name="chevronUpDown" className="text-faint" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="start">
          <Menu.Popup className={menuPopupClasses}>
            {workspaces.map((workspace) => (
              <Menu.LinkItem
                key={workspace.workspaceId}
                closeOnClick
                aria-current={workspace.slug === current.slug ? 'true' : undefined}
                render={<Link to="/w/$slug/jobs" params={{ slug: workspace.slug }} />}
                className={menuItemClasses}
              >
                <Initial name={workspace.name} />
                <span className="min-w-0 grow truncate">{workspace.name}</span>
                <span className="text-xs text-faint">{workspace.role}</span>
                {workspace.slug === current.slug && <Icon name="check" className="text-accent" />}
              </Menu.LinkItem>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function Initial({ name }: { name: string }) {
  return (
    <span
      aria-hidden="true"
      className="grid size-5 shrink-0 place-items-center rounded bg-accent-soft text-xs font-semibold text-accent"
    >
      {[...name.trim()][0]?.toUpperCase() ?? '?'}
    </span>
  );
}
