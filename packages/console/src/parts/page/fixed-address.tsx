import { TextField } from '../form/field.tsx';

/** The address that a link is for. It is read-only; password managers need the field. */
export function FixedAddress({ email }: { email: string }) {
  return (
    <TextField
      label="E-mail address"
      type="email"
      name="email"
      autoComplete="username"
      readOnly
      value={email}
      className="bg-well text-muted"
    />
  );
}
