const CODE_CHARS = 8;
const GROUP_CHARS = 4;

/**
 * What a person typed or pasted as a device code, in the form that the terminal shows:
 * `wdjb mjht` → `WDJB-MJHT`. Anything but letters is dropped, the rest is cut at eight.
 */
export function formatUserCode(typed: string): string {
  const letters = typed
    .toUpperCase()
    .replace(/[^A-Z]/g, '')
    .slice(0, CODE_CHARS);
  return letters.length > GROUP_CHARS
    ? `${letters.slice(0, GROUP_CHARS)}-${letters.slice(GROUP_CHARS)}`
    : letters;
}

export function isCompleteUserCode(code: string): boolean {
  return code.length === CODE_CHARS + 1;
}
