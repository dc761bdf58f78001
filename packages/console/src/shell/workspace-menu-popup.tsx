import { Menu } from '@base-ui/react/menu';
import { Link } from '@tanstack/react-router';
import type { Membership } from '../api/session-queries.ts';
import { Icon } from '../parts/icon.tsx';
import { MenuPopup, menuItemClasses } from '../parts/menu.tsx';
import type { MenuState } from '../parts/menu-button.tsx';
import { workspaceHome } from '../routes/workspace-home.ts';
import { Initial } from './initial.tsx';

interface WorkspaceMenuPopupProps extends MenuState {
  current: Membership;
  workspaces: readonly Membership[];
}

export function WorkspaceMenuPopup({ current, workspaces, ...state }: WorkspaceMenuPopupProps) {
  return (
    <MenuPopup {...state}>
      {workspaces.map((workspace) => (
        <Menu.LinkItem
          key={workspace.workspaceId}
          closeOnClick
          aria-current={workspace.slug === current.slug ? 'true' : undefined}
          render={<Link to={workspaceHome} params={{ slug: workspace.slug }} />}
          className={menuItemClasses}
        >
          <Initial name={workspace.name} />
          <span className="min-w-0 grow truncate">{workspace.name}</span>
          <span className="text-xs text-faint">{workspace.role}</span>
          {workspace.slug === current.slug && <Icon name="check" className="text-accent" />}
        </Menu.LinkItem>
      ))}
    </MenuPopup>
  );
}
