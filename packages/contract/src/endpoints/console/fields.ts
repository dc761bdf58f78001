import type { TObject } from 'typebox';
import { defineEndpoint, type Endpoint, type EndpointRow } from '../../endpoint.ts';
import { Text } from '../../schema.ts';

export const PASSWORD_CHARS_MIN = 8;
export const PASSWORD_CHARS_MAX = 128;

/** Checks a row of the console. Its caller is signed in, unless the row says `auth: 'none'`. */
export function defineConsoleEndpoint<Req extends TObject, Res extends TObject>(
  row: Omit<EndpointRow<Req, Res, true>, 'tag' | 'scopes' | 'console'>,
): Endpoint<Req, Res, true> {
  return defineEndpoint({ tag: 'Console', auth: 'session', scopes: [], console: true, ...row });
}

export const Email = Text(320, { minLength: 3, pattern: '^[^\\s@]+@[^\\s@]+$' });
export const PersonName = Text(200, { minLength: 1 });
export const NewPassword = Text(PASSWORD_CHARS_MAX, { minLength: PASSWORD_CHARS_MIN });
