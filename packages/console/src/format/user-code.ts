const CODE_CHARS = 8;
const GROUP_CHARS = 4;

/**
 * Formats a typed or pasted device code as the terminal shows it: `wdjb mjht` → `WDJB-MJHT`. Drops
 * everything except letters and keeps the first eight.
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
