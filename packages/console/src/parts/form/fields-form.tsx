import type { ComponentProps, ReactNode } from 'react';
import { classNames } from '../../class-names.ts';
import { ErrorNotice } from '../status/error-notice.tsx';
import { ActionButton } from './action-button.tsx';
import { Button, type ButtonLook } from './button.tsx';

interface FieldsFormProps {
  /** Of `useFormFields`. */
  fields: { form: ComponentProps<'form'>; failure: Error | null; isPending: boolean };
  className?: string;
  /** The label of the button that sends the form. */
  submit: string;
  look?: ButtonLook;
  isDisabled?: boolean;
  /** Why the person may not send it now. */
  disabledReason?: string | undefined;
  /** A button beside it. */
  other?: ReactNode;
  onCancel?: () => void;
  children: ReactNode;
}

/** A form in a page: the failure that no field shows, the fields, and the buttons. */
export function FieldsForm(props: FieldsFormProps) {
  const { fields, className = 'sm:max-w-md', look = 'primary', onCancel } = props;
  return (
    <form
      {...fields.form}
      className={classNames('grid grid-cols-[minmax(0,1fr)] gap-4', className)}
    >
      {fields.failure && <ErrorNotice error={fields.failure} />}
      {props.children}
      <div className="flex flex-wrap gap-2">
        <ActionButton
          type="submit"
          look={look}
          busy={fields.isPending}
          disabled={props.isDisabled}
          disabledReason={props.disabledReason}
        >
          {props.submit}
        </ActionButton>
        {props.other}
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
      </div>
    </form>
  );
}
