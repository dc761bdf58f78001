import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode, RefObject } from 'react';
import { classNames } from '../../class-names.ts';
import { Icon } from '../page/icon.tsx';

interface ModalProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  /** One sentence below the title. */
  description?: ReactNode;
  /** The control with the focus at first; by default the first one. */
  initialFocus?: RefObject<HTMLElement | null>;
  /** The element that gets the focus afterwards; by default the one that had it before. */
  finalFocus?: (() => HTMLElement | null) | undefined;
  className?: string;
  children: ReactNode;
}

/**
 * A dialog in the middle of the window; on phones it fills the width at the lower edge. Import it
 * from lazy code: the first view does without dialogs.
 */
export function Modal(props: ModalProps) {
  const { open, onOpenChange, title, description, initialFocus, finalFocus, className, children } =
    props;
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-20 bg-[#0008] transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Dialog.Popup
          {...(initialFocus && { initialFocus })}
          {...(finalFocus && { finalFocus })}
          className={classNames(
            'fixed z-30 grid max-h-[85dvh] grid-cols-[minmax(0,1fr)] gap-3 overflow-y-auto border bg-raised p-5 shadow-popup',
            'inset-x-0 bottom-0 rounded-t-xl',
            'sm:inset-auto sm:top-1/2 sm:left-1/2 sm:w-[min(32rem,calc(100vw-2rem))] sm:-translate-x-1/2 sm:-translate-y-1/2 sm:rounded-xl',
            className,
          )}
        >
          <div className="flex items-start justify-between gap-3">
            <Dialog.Title className="text-lg font-semibold">{title}</Dialog.Title>
            <Dialog.Close
              aria-label="Close"
              className="-mt-1 -mr-1 grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink pointer-coarse:size-11"
            >
              <Icon name="x" />
            </Dialog.Close>
          </div>
          {description && (
            <Dialog.Description className="text-sm text-muted">{description}</Dialog.Description>
          )}
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
