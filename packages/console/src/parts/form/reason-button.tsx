import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { FormModal } from '../dialog/form-modal.tsx';
import { ActionButton } from './action-button.tsx';
import type { ButtonLook } from './button.tsx';
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
  const { label, look, disabledReason } = props;
  const [open, setOpen] = useState(false);
  return (
    <>
      <ActionButton
        {...(look && { look })}
        disabledReason={disabledReason}
        onClick={() => setOpen(true)}
      >
        {label}
      </ActionButton>
      {open && <ReasonDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function ReasonDialog(props: ReasonButtonProps & { onClose: () => void }) {
  const { label, title, description, confirmLook = 'primary', asksReason, onClose } = props;
  const [reason, setReason] = useState('');
  const act = useMutation({
    mutationFn: () => props.onConfirm(reason.trim() === '' ? undefined : reason.trim()),
    onSuccess: onClose,
  });
  return (
    <FormModal
      {...{ title, description, act, onClose }}
      submit={label}
      look={confirmLook}
      onSubmit={() => act.mutate()}
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
    </FormModal>
  );
}
