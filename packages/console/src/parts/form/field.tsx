import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import { classNames } from '../../class-names.ts';
import { Icon } from '../page/icon.tsx';

export const inputClasses = classNames(
  'h-9 w-full rounded-md border border-control bg-surface px-3 text-base text-ink',
  'placeholder:text-faint pointer-coarse:h-11 pointer-coarse:text-lg',
  'aria-invalid:border-danger',
);

interface FieldShape {
  label: string;
  /** Instructions, shown before any error. */
  hint?: ReactNode;
  /** The error of the value. */
  error?: string | undefined;
}

/** A label, hint and error for one control, linked for screen readers. */
export function FieldFrame({
  label,
  hint,
  error,
  children,
}: FieldShape & {
  children: (ids: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': true | undefined;
  }) => ReactNode;
}) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="grid gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': describedBy || undefined,
        'aria-invalid': error ? true : undefined,
      })}
      {hint && (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} role="alert" className="flex gap-1.5 text-xs text-danger">
          <Icon name="triangle-alert" />
          {error}
        </p>
      )}
    </div>
  );
}

type InputProps = FieldShape & Omit<ComponentProps<'input'>, 'children'>;

export function TextField({ label, hint, error, className, ...rest }: InputProps) {
  return (
    <FieldFrame label={label} hint={hint} error={error}>
      {(ids) => (
        <input type="text" className={classNames(inputClasses, className)} {...rest} {...ids} />
      )}
    </FieldFrame>
  );
}

/** A password field that can show its text, so that it need not be entered twice. */
export function PasswordField({ label, hint, error, className, ...rest }: InputProps) {
  const [shown, setShown] = useState(false);
  return (
    <FieldFrame label={label} hint={hint} error={error}>
      {(ids) => (
        <span className="relative block">
          <input
            className={classNames(inputClasses, 'pr-11', className)}
            {...rest}
            {...ids}
            type={shown ? 'text' : 'password'}
          />
          <button
            type="button"
            aria-label={shown ? 'Hide password' : 'Show password'}
            onClick={() => setShown(!shown)}
            className={classNames(
              'absolute inset-y-0 right-0 grid w-10 place-items-center rounded-md',
              shown ? 'text-accent' : 'text-muted hover:text-ink',
            )}
          >
            <Icon name="eye" />
          </button>
        </span>
      )}
    </FieldFrame>
  );
}
