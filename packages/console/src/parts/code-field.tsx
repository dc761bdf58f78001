import { classNames } from '../class-names.ts';
import { formatUserCode } from '../format/user-code.ts';
import { FieldFrame, inputClasses } from './field.tsx';

interface CodeFieldProps {
  value: string;
  onChange: (code: string) => void;
  error?: string | undefined;
  disabled?: boolean;
}

/**
 * The code that the terminal shows, typed by the person: one plain input, so that pasting,
 * dictating and password managers behave; it brings what is typed into the form XXXX-XXXX.
 */
export function CodeField({ value, onChange, error, disabled }: CodeFieldProps) {
  return (
    <FieldFrame
      label="Code shown in your terminal"
      hint="Eight letters. Type them from the terminal where you started the login."
      error={error}
    >
      {(ids) => (
        <input
          {...ids}
          type="text"
          name="user-code"
          value={value}
          disabled={disabled}
          required
          placeholder="XXXX-XXXX"
          autoComplete="off"
          autoCapitalize="characters"
          autoCorrect="off"
          spellCheck={false}
          maxLength={40}
          onChange={(event) => onChange(formatUserCode(event.target.value))}
          className={classNames(
            inputClasses,
            'h-12 text-center font-mono text-xl tracking-[0.18em] uppercase pointer-coarse:h-12',
          )}
        />
      )}
    </FieldFrame>
  );
}
