import { useId, useState } from 'react';
import { Modal } from '../dialog/dialog.tsx';
import { ErrorNotice } from '../status/error-notice.tsx';
import { ActionButton } from './action-button.tsx';
import { Button, type ButtonLook } from './button.tsx';
import { TextField } from './field.tsx';

interface ReasonButtonProps {
  /** The action, as the label of the button and of its confirmation. */
  label: string;
  title: string;
  /** The consequences, in a sentence or two. */
  description: string;
  look?: ButtonLook;
  confirmLook?: ButtonLook;
  /** Offers a field for the reason, which others read. */
  asksReason?: boolean;
  /** Why the person may not do this now. */
  disabledReason?: string | undefined;
  /** If it rejects, the dialog stays open and shows the failure. */
  onConfirm: (reason: string | undefined) => Promise<unknown>;
}

/** A button whose dialog says what happens, and asks for a reason. */
export function ReasonButton(props: ReasonButtonProps) {
  const { label, title, description, look, confirmLook = 'primary', asksReason } = props;
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const formId = useId();
  const changeOpen = (next: boolean) => {
    setOpen(next);
    setReason('');
    setError(undefined);
  };
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await props.onConfirm(reason.trim() === '' ? undefined : reason.trim());
      setOpen(false);
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <ActionButton
        {...(look && { look })}
        disabledReason={props.disabledReason}
        onClick={() => changeOpen(true)}
      >
        {label}
      </ActionButton>
      <Modal open={open} onOpenChange={changeOpen} title={title} description={description}>
        <form
          id={formId}
          className="grid gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            void confirm();
          }}
        >
          {asksReason && (
            <TextField
              label="Reason (optional)"
              hint="Your team reads it."
              maxLength={1_000}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
          {error !== undefined && <ErrorNotice error={error} />}
          <div className="mt-1 flex flex-wrap justify-end gap-2">
            <Button onClick={() => changeOpen(false)}>Go back</Button>
            <Button type="submit" look={confirmLook} busy={busy}>
              {label}
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}
