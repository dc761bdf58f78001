import { classNames } from '../../class-names.ts';
import { Icon } from '../page/icon.tsx';

interface FilterChipProps<Value extends string> {
  /** The name of the filter, for instance `Status`. */
  label: string;
  value: Value | undefined;
  options: readonly { value: Value; word: string }[];
  onChange: (value: Value | undefined) => void;
}

/**
 * A filter: "Status" while it is off, "Status is Running" with a cross when it is on. The choice is
 * a native select over the chip, which keyboards, screen readers and phones know best.
 */
export function FilterChip<Value extends string>(props: FilterChipProps<Value>) {
  const { label, value, options, onChange } = props;
  const chosen = options.find((option) => option.value === value);
  return (
    <span
      className={classNames(
        'inline-flex h-7 items-center rounded-full border text-sm pointer-coarse:h-11',
        chosen ? 'border-accent/40 bg-accent-soft text-accent' : 'border-dashed text-muted',
      )}
    >
      <span className="relative inline-flex h-full items-center gap-1 rounded-full px-2.5 focus-within:outline-2 focus-within:outline-accent hover:text-ink">
        <span aria-hidden="true">
          {label}
          {chosen && (
            <>
              {' is '}
              <span className="font-medium">{chosen.word}</span>
            </>
          )}
        </span>
        {!chosen && <Icon name="chevron-down" className="size-3.5" />}
        <select
          aria-label={label}
          value={value ?? ''}
          onChange={(event) =>
            onChange(options.find((option) => option.value === event.target.value)?.value)
          }
          className="absolute inset-0 w-full appearance-none bg-raised text-ink opacity-0"
        >
          <option value="">Any</option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.word}
            </option>
          ))}
        </select>
      </span>
      {chosen && (
        <button
          type="button"
          aria-label={`Clear the filter ${label}`}
          onClick={() => onChange(undefined)}
          className="mr-0.5 grid size-6 place-items-center rounded-full hover:bg-accent/15 pointer-coarse:size-10"
        >
          <Icon name="x" className="size-3.5" />
        </button>
      )}
    </span>
  );
}
