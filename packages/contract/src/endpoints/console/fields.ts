import { Text } from '../../schema.ts';

export const PASSWORD_CHARS_MIN = 8;
export const PASSWORD_CHARS_MAX = 128;

/** The fields that all rows of the console share. */
export const consoleRow = {
  method: 'POST',
  tag: 'Console',
  scopes: [],
  origin: 'extension',
  console: true,
  jobToken: 'none',
} as const;

export const Email = Text(320, { minLength: 3, pattern: '^[^\\s@]+@[^\\s@]+$' });
export const PersonName = Text(200, { minLength: 1 });
export const NewPassword = Text(PASSWORD_CHARS_MAX, { minLength: PASSWORD_CHARS_MIN });
