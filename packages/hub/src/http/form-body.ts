import { HubError } from '../base/errors.ts';

export const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Parses a query or a form of `application/x-www-form-urlencoded`.
 *
 * @throws HubError INVALID_REQUEST: no parameter may be there twice (RFC 6749, section 3.1).
 */
export function parseForm(text: string): Readonly<Record<string, string>> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (fields.has(name)) throw new HubError('INVALID_REQUEST', `${name} was sent twice.`);
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
