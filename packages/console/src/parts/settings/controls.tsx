import type { ComponentProps, ReactNode } from 'react';
import { classNames } from '../../class-names.ts';
import { FieldFrame, inputClasses } from '../form/field.tsx';
import { Icon } from '../page/icon.tsx';

interface SelectInputProps extends Omit<ComponentProps<'select'>, 'children'> {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  options: readonly { value: string; word: string }[];
}

/** A native select in a form, with label, hint and error. */
export function SelectInput({ label, hint, error, options, className, ...rest }: SelectInputProps) {
  return (
    <FieldFrame label={label} hint={hint} error={error}>
      {(ids) => (
        <span className="relative block">
          <select
            {...rest}
            {...ids}
            className={classNames(inputClasses, 'appearance-none pr-9', className)}
          >
            {options.map(({ value, word }) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
          <Icon
            name="chevron-down"
            className="pointer-events-none absolute top-1/2 right-3 -translate-y-1/2 text-muted"
          />
        </span>
      )}
    </FieldFrame>
  );
}

interface CheckFieldProps extends Omit<ComponentProps<'input'>, 'onChange' | 'type'> {
  label: string;
  hint?: ReactNode;
  onChange: (checked: boolean) => void;
}

/** A checkbox with its label and hint, 44 pixels high on touch screens. */
export function CheckField({ label, hint, onChange, ...rest }: CheckFieldProps) {
  return (
    <label className="flex min-h-8 items-start gap-2.5 py-1 text-sm pointer-coarse:min-h-11">
      <input
        type="checkbox"
        className="mt-0.5 size-4 shrink-0 accent-accent-fill pointer-coarse:size-5"
        {...rest}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className="grid gap-0.5">
        <span className="font-medium">{label}</span>
        {hint && <span className="text-xs text-muted">{hint}</span>}
      </span>
    </label>
  );
}
