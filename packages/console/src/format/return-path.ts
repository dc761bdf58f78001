/** The request of an assistant is a long path. */
const PATH_CHARS_MAX = 5_000;

/**
 * Validates the path to open after signing in. Only paths of this console are accepted: an external
 * URL (`//evil.example`, `/\evil.example`, `https:…`) would make the sign-in page an open redirect.
 */
export function safeReturnPath(wanted: unknown): string | undefined {
  if (typeof wanted !== 'string' || !wanted.startsWith('/') || wanted.length > PATH_CHARS_MAX) {
    return undefined;
  }
  const base = 'https://console.invalid';
  if (!URL.canParse(wanted, base)) return undefined;
  const url = new URL(wanted, base);
  if (url.origin !== base || url.pathname.startsWith('//')) return undefined;
  return url.pathname + url.search + url.hash;
}
