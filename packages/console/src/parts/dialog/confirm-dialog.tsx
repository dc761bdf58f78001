import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button, type ButtonLook, buttonClasses } from '../form/button.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';

export interface ConfirmDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The action, as the label of its confirmation. */
  label: string;
  title: string;
  /** The consequences, in a sentence or two. */
  children: ReactNode;
  confirmLook?: ButtonLook | undefined;
  /** The element that gets the focus afterwards; by default the one that had it before. */
  finalFocus?: (() => HTMLElement | null) | undefined;
  /** If it rejects, the dialog stays open and shows the failure. */
  onConfirm: () => Promise<unknown>;
}

/** Asks before an action. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { open, onOpenChange, label, title, children, confirmLook = 'danger', onConfirm } = props;
  const { finalFocus } = props;
  const act = useMutation({ mutationFn: onConfirm, onSuccess: () => onOpenChange(false) });
  const changeOpen = (next: boolean) => {
    onOpenChange(next);
    act.reset();
  };
  return (
    <AlertDialog.Root open={open} onOpenChange={changeOpen}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-20 bg-[#0008] transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <AlertDialog.Popup
          {...(finalFocus && { finalFocus })}
          className="fixed top-1/2 left-1/2 z-30 grid max-h-[85dvh] w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 gap-3 overflow-y-auto rounded-xl border bg-raised p-5 shadow-popup"
        >
          <AlertDialog.Title className="text-lg font-semibold">{title}</AlertDialog.Title>
          <AlertDialog.Description
            render={<div />}
            className="grid min-w-0 gap-2 text-sm wrap-anywhere text-muted"
          >
            {children}
          </AlertDialog.Description>
          {act.error && <ErrorNotice error={act.error} />}
          <div className="mt-2 flex flex-wrap justify-end gap-2">
            <AlertDialog.Close className={buttonClasses('plain')}>Go back</AlertDialog.Close>
            <Button look={confirmLook} busy={act.isPending} onClick={() => act.mutate()}>
              {label}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
