import { AlertDialog } from '@base-ui/react/alert-dialog';
import { type ReactNode, useState } from 'react';
import { ActionButton } from './action-button.tsx';
import { Button, type ButtonLook, buttonClasses } from './button.tsx';
import { ErrorNotice } from './error-notice.tsx';

interface ConfirmButtonProps {
  /** The action, as the label of the button and of its confirmation. */
  label: string;
  title: string;
  /** The consequences, in a sentence or two. */
  children: ReactNode;
  /** The object of the action, for screen readers: `Revoke` of `the token CI`. */
  of?: string;
  look?: ButtonLook;
  confirmLook?: ButtonLook;
  /** Why the person may not do this now. The button stays, disabled. */
  disabledReason?: string | undefined;
  /** If it rejects, the dialog stays open and shows the failure. */
  onConfirm: () => Promise<unknown>;
}

/** A button whose action must be confirmed. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { label, of, title, children, look = 'plain', confirmLook = 'danger', onConfirm } = props;
  const [open, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();

  const changeOpen = (next: boolean) => {
    setOpen(next);
    setError(undefined);
  };
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      setOpen(false);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  const name = of === undefined ? {} : { 'aria-label': `${label} ${of}` };
  if (props.disabledReason !== undefined) {
    return (
      <ActionButton look={look} disabledReason={props.disabledReason} {...name}>
        {label}
      </ActionButton>
    );
  }
  return (
    <AlertDialog.Root open={open} onOpenChange={changeOpen}>
      <AlertDialog.Trigger className={buttonClasses(look)} {...name}>
        {label}
      </AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-20 bg-[#0008] transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <AlertDialog.Popup className="fixed z-30 top-1/2 left-1/2 grid w-[min(26rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 gap-3 rounded-xl border bg-raised p-5 shadow-popup">
          <AlertDialog.Title className="text-lg font-semibold">{title}</AlertDialog.Title>
          <AlertDialog.Description className="text-sm text-muted">
            {children}
          </AlertDialog.Description>
          {error !== undefined && <ErrorNotice error={error} />}
          <div className="mt-2 flex flex-wrap justify-end gap-2">
            <AlertDialog.Close className={buttonClasses('plain')}>Go back</AlertDialog.Close>
            <Button look={confirmLook} busy={busy} onClick={confirm}>
              {label}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
