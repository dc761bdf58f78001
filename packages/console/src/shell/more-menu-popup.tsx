import { Menu } from '@base-ui/react/menu';
import { MenuPopup, menuItemClasses } from '../parts/dialog/menu.tsx';
import type { MenuState } from '../parts/form/menu-button.tsx';
import { Icon } from '../parts/page/icon.tsx';
import type { NavEntry } from './nav-entries.ts';
import { NavLink } from './nav-link.tsx';

interface MoreMenuPopupProps extends MenuState {
  slug: string;
  entries: readonly NavEntry[];
}

/** The pages that have no place in the bar of a phone. */
export function MoreMenuPopup({ slug, entries, ...state }: MoreMenuPopupProps) {
  return (
    <MenuPopup {...state}>
      {entries.map((entry) => (
        <Menu.LinkItem
          key={entry.path}
          closeOnClick
          render={<NavLink entry={entry} slug={slug} className={menuItemClasses} />}
        >
          <Icon name={entry.icon} />
          {entry.word}
        </Menu.LinkItem>
      ))}
    </MenuPopup>
  );
}
