import { passwordCharsMin } from 'virtual:contract-data';
import { type ChangeEvent, type SubmitEvent, useEffect, useRef, useState } from 'react';
import { HubError } from '../../api/hub-error.ts';

type FieldErrors<Name extends string> = Partial<Record<Name, string>>;

interface FormOptions<Name extends string> {
  /** Every field with the value that it starts with. */
  initial: Readonly<Record<Name, string>>;
  /** Finds the errors of fields before anything is sent to the hub. */
  check: (values: Readonly<Record<Name, string>>) => FieldErrors<NoInfer<Name>>;
  /** The call that sends the form. */
  act: { isPending: boolean; error: Error | null };
  /** Error codes of the hub that concern one field. Its message is the hub's, unless given. */
  fieldOfCode?: Readonly<Record<string, { name: NoInfer<Name>; message?: string }>>;
  send: (values: Readonly<Record<Name, string>>) => void;
  /** Whether the first field gets the focus when the form appears; default true. */
  takesFocus?: boolean;
}

/**
 * Holds the state of a form that shows errors beside its fields, instead of in the browser's
 * bubbles. The first field gets the focus when the form appears, and the first wrong field after an
 * attempt.
 */
export function useFormFields<Name extends string>(options: FormOptions<Name>) {
  const { initial, check, act, fieldOfCode = {}, send, takesFocus = true } = options;
  const { error: failure, isPending } = act;
  const formRef = useRef<HTMLFormElement>(null);
  const [values, setValues] = useState(initial);
  const [faults, setFaults] = useState<FieldErrors<Name>>({});
  /** Counts the attempts: only they move the focus, not the mending of a field. */
  const [attempt, setAttempt] = useState(0);
  const refused = refusalsOf(failure, Object.keys(initial), fieldOfCode);
  // The hub's refusal is shown until the person changes a field or sends the form again.
  const [changedSince, setChangedSince] = useState<Error | null>(null);
  const errors: FieldErrors<Name> = failure !== changedSince ? { ...refused, ...faults } : faults;

  useEffect(() => {
    if (!takesFocus) return;
    formRef.current?.querySelector<HTMLInputElement>('input:not([readonly])')?.focus();
  }, [takesFocus]);
  useEffect(() => {
    if (failure === null && attempt === 0) return;
    formRef.current?.querySelector<HTMLInputElement>('[aria-invalid=true]')?.focus();
  }, [failure, attempt]);

  function setField(name: Name, value: string): void {
    setValues((current) => ({ ...current, [name]: value }));
    setChangedSince(failure);
    const { [name]: _mended, ...others } = faults;
    // The rest of the record has only the other names.
    setFaults(others as FieldErrors<Name>);
  }

  return {
    values,
    isPending,
    /** Empties a field and moves the focus to it. */
    clear(name: Name) {
      setValues((current) => ({ ...current, [name]: '' }));
      formRef.current?.querySelector<HTMLInputElement>(`[name=${name}]`)?.focus();
    },
    /** Returns the form to its first values. */
    reset: () => setValues(initial),
    set: setField,
    /** The failure, unless fields show it. */
    failure: failure !== null && Object.keys(refused).length === 0 ? failure : null,
    form: {
      ref: formRef,
      noValidate: true,
      onSubmit(event: SubmitEvent) {
        event.preventDefault();
        const found = check(values);
        setFaults(found);
        setAttempt((count) => count + 1);
        if (Object.keys(found).length === 0) send(values);
      },
    },
    bind: (name: Name) => ({
      name,
      required: true,
      value: values[name],
      error: errors[name],
      onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>) =>
        setField(name, event.target.value),
    }),
  };
}

/** The hub's refusal by field; empty if any part of it does not concern a field of the form. */
function refusalsOf<Name extends string>(
  failure: Error | null,
  names: readonly string[],
  fieldOfCode: Readonly<Record<string, { name: Name; message?: string }>>,
): FieldErrors<Name> {
  if (!(failure instanceof HubError)) return {};
  const known = fieldOfCode[failure.code];
  // A record of one field, whose name is Name.
  if (known) {
    return { [known.name]: known.message ?? failure.message } as FieldErrors<Name>;
  }
  const entries = failure.details.map(({ path, message }) => [path.slice(1), message] as const);
  if (!entries.every(([name]) => names.includes(name))) return {};
  return Object.fromEntries(entries) as FieldErrors<Name>;
}

/** The error of a field that must not be empty; `what` names it: `your name`. */
export function findEmptyFault(text: string, what: string): string | undefined {
  return text.trim() === '' ? `Enter ${what}.` : undefined;
}

/** The error of an e-mail address; the hub checks it again. */
export function findAddressFault(email: string): string | undefined {
  if (email.trim() === '') return 'Enter your e-mail address.';
  return /^[^\s@]+@[^\s@]+$/.test(email.trim())
    ? undefined
    : 'Enter an e-mail address such as ada@acme.dev.';
}

/** Leaves out the fields without an error. */
export function foundFaults<Name extends string>(
  faults: Readonly<Record<Name, string | undefined>>,
): FieldErrors<Name> {
  const found = Object.entries(faults).filter(([, fault]) => fault !== undefined);
  // The entries come from a record of these names.
  return Object.fromEntries(found) as FieldErrors<Name>;
}

/** The error of a new password that is too short for the hub. */
export function findLengthFault(password: string): string | undefined {
  return password.length < passwordCharsMin
    ? `Use at least ${passwordCharsMin} characters.`
    : undefined;
}
