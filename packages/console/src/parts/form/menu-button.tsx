import {
  type ComponentType,
  type KeyboardEvent,
  type LazyExoticComponent,
  lazy,
  type ReactNode,
  type RefObject,
  Suspense,
  useRef,
  useState,
} from 'react';

/** The state that a `MenuButton` gives to its popup, which passes it on to `MenuPopup`. */
export interface MenuState {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  anchor: RefObject<HTMLButtonElement | null>;
}

type PopupOf<Props> = ComponentType<Props & MenuState>;

/**
 * A lazy popup for `MenuButton`. Menus need a positioning library of 45 KB, which the first view
 * does without: it is loaded when a pointer or the focus reaches a button.
 */
export function lazyMenu<Props extends object>(
  load: () => Promise<PopupOf<Props>>,
): { Popup: LazyExoticComponent<PopupOf<Props>>; preload: () => void } {
  return {
    Popup: lazy(async () => ({ default: await load() })),
    preload: () => void load().catch(() => undefined),
  };
}

interface MenuButtonProps {
  label: string;
  preload: () => void;
  className: string;
  /** The popup, in the state that it is in. */
  popup: (state: MenuState) => ReactNode;
  children: ReactNode;
}

/** A button that opens a menu. */
export function MenuButton({ label, preload, className, popup, children }: MenuButtonProps) {
  const anchor = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  // Mounted from the first opening on, so that closing can return the focus.
  const [mounted, setMounted] = useState(false);
  const change = (next: boolean) => {
    setOpen(next);
    if (next) setMounted(true);
  };
  const openByArrow = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    change(true);
  };
  return (
    <>
      <button
        ref={anchor}
        type="button"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => change(!open)}
        onKeyDown={openByArrow}
        className={className}
      >
        {children}
      </button>
      {mounted && (
        <Suspense fallback={null}>{popup({ open, onOpenChange: change, anchor })}</Suspense>
      )}
    </>
  );
}
