import { classNames } from '../../class-names.ts';
import { formatUserCode } from '../../format/user-code.ts';
import { FieldFrame, inputClasses } from './field.tsx';

interface CodeFieldProps {
  value: string;
  onChange: (code: string) => void;
  error?: string | undefined;
  disabled?: boolean;
}

/**
 * Input for the code shown in the terminal. A single plain input, so that pasting, dictation and
 * password managers work; it formats the text as XXXX-XXXX.
 */
export function CodeField({ value, onChange, error, disabled }: CodeFieldProps) {
  return (
    <FieldFrame
      label="Code shown in your terminal"
      hint="Eight letters, shown in the terminal where you started the login."
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
