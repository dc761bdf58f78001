/**
 * The alphabet of the code that a person compares between terminal and browser in a device login
 * (docs/reference/protocol.md, section 2.4). It has no vowels, so that no word appears, and no
 * letters that look alike.
 */
export const USER_CODE_ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
/** Letters of a code, the dash not counted: 20^8 codes, about 34 bits. */
export const USER_CODE_CHARS = 8;

const userCodePattern = new RegExp(`^[${USER_CODE_ALPHABET}]{${USER_CODE_CHARS}}$`);

/**
 * The eight letters of a code as a person typed it: any case, with or without dashes and spaces.
 * Null when it is not a code.
 */
export function normalizeUserCode(text: string): string | null {
  const letters = text.replace(/[\s\p{Pd}]/gu, '').toUpperCase();
  return userCodePattern.test(letters) ? letters : null;
}

/**
 * `XXXX-XXXX`, as it is shown.
 * @throws {RangeError} when the text is not a code.
 */
export function formatUserCode(text: string): string {
  const letters = normalizeUserCode(text);
  if (letters === null) {
    throw new RangeError(`A user code is ${USER_CODE_CHARS} letters of ${USER_CODE_ALPHABET}.`);
  }
  const half = USER_CODE_CHARS / 2;
  return `${letters.slice(0, half)}-${letters.slice(half)}`;
}
