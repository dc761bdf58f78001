import { useState } from 'react';
import { ConfirmDialog, type ConfirmDialogProps } from '../dialog/confirm-dialog.tsx';
import { ActionButton } from './action-button.tsx';
import { Button, type ButtonLook } from './button.tsx';

interface ConfirmButtonProps extends Omit<ConfirmDialogProps, 'open' | 'onOpenChange'> {
  /** The object of the action, for screen readers: `Revoke` of `the token CI`. */
  of?: string;
  look?: ButtonLook;
  /** Why the person may not do this now. The button stays, disabled. */
  disabledReason?: string | undefined;
}

/** A button whose action must be confirmed. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { look = 'plain', of, disabledReason, ...dialog } = props;
  const [open, setOpen] = useState(false);
  const name = of === undefined ? {} : { 'aria-label': `${dialog.label} ${of}` };
  if (disabledReason !== undefined) {
    return (
      <ActionButton look={look} disabledReason={disabledReason} {...name}>
        {dialog.label}
      </ActionButton>
    );
  }
  return (
    <>
      <Button look={look} aria-haspopup="dialog" onClick={() => setOpen(true)} {...name}>
        {dialog.label}
      </Button>
      <ConfirmDialog {...dialog} open={open} onOpenChange={setOpen} />
    </>
  );
}
