import type { ReactNode } from 'react';
import { activeKeys } from '../keys/key-registry.ts';
import { Icon } from '../parts/page/icon.tsx';
import { PALETTE_KEYS } from './palette-keys.ts';

/** Opens the palette, whose code is loaded when a pointer or the focus reaches the button. */
export function PaletteButton({
  className,
  children,
}: {
  className: string;
  children?: ReactNode;
}) {
  const preload = () => void import('./palette.tsx').catch(() => undefined);
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() =>
        activeKeys()
          .find(({ keys }) => keys === PALETTE_KEYS)
          ?.act()
      }
      className={className}
    >
      <Icon name="search" />
      {children ?? <span className="sr-only">Search and run commands</span>}
    </button>
  );
}
