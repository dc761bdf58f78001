import { Menu } from '@base-ui/react/menu';
import { actionWords, type JobAction } from '../format/job-actions.ts';
import { MenuPopup, menuItemClasses } from '../parts/dialog/menu.tsx';
import type { MenuState } from '../parts/form/menu-button.tsx';

interface JobMenuPopupProps extends MenuState {
  actions: readonly JobAction[];
  disabledReason: string | undefined;
  onAction: (action: JobAction) => void;
}

/** The further actions of a job. */
export function JobMenuPopup({ actions, disabledReason, onAction, ...state }: JobMenuPopupProps) {
  return (
    <MenuPopup {...state}>
      {actions.map((action) => (
        <Menu.Item
          key={action}
          disabled={disabledReason !== undefined}
          onClick={() => onAction(action)}
          className={menuItemClasses}
        >
          {actionWords[action]}
        </Menu.Item>
      ))}
      {disabledReason !== undefined && (
        <p className="px-2 py-1.5 text-xs text-muted">{disabledReason}</p>
      )}
    </MenuPopup>
  );
}
