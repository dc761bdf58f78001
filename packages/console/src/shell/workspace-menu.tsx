import type { Membership } from '../api/session-queries.ts';
import { lazyMenu, MenuButton } from '../parts/form/menu-button.tsx';
import { Icon } from '../parts/page/icon.tsx';
import { Initial } from './initial.tsx';

const { Popup, preload } = lazyMenu(
  async () => (await import('./workspace-menu-popup.tsx')).WorkspaceMenuPopup,
);

interface WorkspaceMenuProps {
  current: Membership;
  workspaces: readonly Membership[];
}

/** The current workspace, and links to the others. */
export function WorkspaceMenu({ current, workspaces }: WorkspaceMenuProps) {
  return (
    <MenuButton
      label={`Workspace ${current.name}. Switch workspace`}
      preload={preload}
      popup={(state) => <Popup current={current} workspaces={workspaces} {...state} />}
      className="flex h-9 min-w-0 items-center gap-2 rounded-md px-1.5 text-left font-semibold hover:bg-hover max-md:grow pointer-coarse:h-11"
    >
      <Initial name={current.name} />
      <span className="min-w-0 grow truncate narrow:md:hidden">{current.name}</span>
      <Icon name="chevrons-up-down" className="text-faint narrow:md:hidden" />
    </MenuButton>
  );
}
