/**
 * The alphabet of the code that a person compares between terminal and browser in a device login
 * (docs/reference/protocol.md, section 2.4). It has no vowels, so that no word appears, and no
 * letters that look alike.
 */
export const USER_CODE_ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
/** Letters of a code without the dash. There are 20^8 codes, about 34 bits. */
export const USER_CODE_CHARS = 8;

const userCodePattern = new RegExp(`^[${USER_CODE_ALPHABET}]{${USER_CODE_CHARS}}$`);

/**
 * Reads a code as a person typed it, in any case, with or without dashes and spaces. Returns its
 * eight letters, or null for any other text.
 */
export function normalizeUserCode(text: string): string | null {
  const letters = text.replace(/[\s\p{Pd}]/gu, '').toUpperCase();
  return userCodePattern.test(letters) ? letters : null;
}

/**
 * Formats a code for people, as `XXXX-XXXX`.
 * @throws {RangeError} if the text is not a code.
 */
export function formatUserCode(text: string): string {
  const letters = normalizeUserCode(text);
  if (letters === null) {
    throw new RangeError(
      `A user code must have ${USER_CODE_CHARS} letters of ${USER_CODE_ALPHABET}.`,
    );
  }
  const half = USER_CODE_CHARS / 2;
  return `${letters.slice(0, half)}-${letters.slice(half)}`;
}
