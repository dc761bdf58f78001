/** Names in the order of checking: Edge and Opera also call themselves Chrome, Chrome Safari. */
const browsers = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const;
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/**
 * Describes a browser to the person who uses it: `Firefox on Linux`. A User-Agent header is no
 * proof of anything, so this helps to recognize a browser and no more.
 */
export function describeBrowser(userAgent: string): string {
  const find = (words: readonly (readonly [mark: string, name: string])[]) =>
    words.find(([mark]) => userAgent.includes(mark))?.[1];
  return `${find(browsers) ?? 'A browser'} on ${find(systems) ?? 'an unknown system'}`;
}
