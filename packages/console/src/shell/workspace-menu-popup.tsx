import { Menu } from '@base-ui/react/menu';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useId } from 'react';
import type { Membership } from '../api/session-queries.ts';
import { MenuPopup, menuItemClasses } from '../parts/dialog/menu.tsx';
import type { MenuState } from '../parts/form/menu-button.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { workspaceHome } from '../routes/workspace-home.ts';
import { Initial } from './initial.tsx';

const workspaceRoute = getRouteApi('/w/$slug');

interface WorkspaceMenuPopupProps extends MenuState {
  current: Membership;
  workspaces: readonly Membership[];
}

export function WorkspaceMenuPopup({ current, workspaces, ...state }: WorkspaceMenuPopupProps) {
  const { workspaceRefusal } = workspaceRoute.useRouteContext();
  const reasonId = useId();
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
      <Menu.Separator className="my-1 border-t" />
      {workspaceRefusal === null ? (
        <Menu.LinkItem
          closeOnClick
          render={<Link to="/new-workspace" />}
          className={menuItemClasses}
        >
          <Icon name="plus" />
          New workspace
        </Menu.LinkItem>
      ) : (
        <Menu.Item disabled aria-describedby={reasonId} className={menuItemClasses}>
          <Icon name="plus" className="self-start mt-2" />
          <span className="grid py-1.5">
            New workspace
            <span id={reasonId} className="text-xs text-muted">
              {workspaceRefusal}
            </span>
          </span>
        </Menu.Item>
      )}
    </MenuPopup>
  );
}
