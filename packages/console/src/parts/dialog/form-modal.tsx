import type { ComponentProps, ReactNode } from 'react';
import { Button, type ButtonLook } from '../form/button.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { Modal } from './dialog.tsx';

interface FormModalProps extends Omit<ComponentProps<typeof Modal>, 'open' | 'onOpenChange'> {
  /** The action, as the label of its button. */
  submit: string;
  look?: ButtonLook;
  /** The action: the button is disabled while it runs, and its failure is shown above. */
  act: { isPending: boolean; error: Error | null };
  isDisabled?: boolean;
  /** A button between the way back and the action. */
  other?: ReactNode;
  /** Of `useFormFields`, which checks the fields and shows its own failure. */
  form?: ComponentProps<'form'>;
  onSubmit?: () => void;
  onClose: () => void;
}

/** A dialog with a form. */
export function FormModal(props: FormModalProps) {
  const { submit, look = 'primary', act, isDisabled, other, form, onSubmit, onClose } = props;
  const { children, ...modal } = props;
  return (
    <Modal {...modal} open onOpenChange={(open) => !open && onClose()}>
      <form
        noValidate
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          // For React, a dialog is within the form that opens it.
          event.stopPropagation();
          onSubmit?.();
        }}
        {...form}
      >
        {children}
        {act.error && <ErrorNotice error={act.error} />}
        <div className="mt-1 flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Go back</Button>
          {other}
          <Button type="submit" look={look} busy={act.isPending} disabled={isDisabled}>
            {submit}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
