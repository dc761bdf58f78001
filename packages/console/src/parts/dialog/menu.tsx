import { Menu } from '@base-ui/react/menu';
import type { ReactNode } from 'react';
import type { MenuState } from '../form/menu-button.tsx';

export const menuItemClasses =
  'flex min-h-8 items-center gap-2 rounded-md px-2 text-sm outline-none select-none ' +
  'data-highlighted:bg-hover data-disabled:opacity-60 pointer-coarse:min-h-11';

/** The popup of a `MenuButton`. Its items are those of Base UI's Menu. */
export function MenuPopup({
  open,
  onOpenChange,
  anchor,
  children,
}: MenuState & { children: ReactNode }) {
  return (
    <Menu.Root
      modal={false}
      open={open}
      onOpenChange={(next, { event }) => {
        // The button toggles the menu itself; to the menu, a press on it is one outside.
        if (event.target instanceof Node && anchor.current?.contains(event.target)) return;
        onOpenChange(next);
      }}
    >
      <Menu.Portal>
        <Menu.Positioner anchor={anchor} sideOffset={4} collisionPadding={8} align="start">
          <Menu.Popup
            finalFocus={anchor}
            className="z-20 max-w-80 min-w-52 rounded-lg border bg-raised p-1 shadow-popup outline-none"
          >
            {children}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
