/**
 * Where to go after signing in. Only a path of this console: an address that leads elsewhere
 * (`//evil.example`, `/\evil.example`, `https:…`) would make the sign-in page a springboard.
 */
export function safeReturnPath(wanted: unknown): string | undefined {
  if (typeof wanted !== 'string' || !wanted.startsWith('/') || wanted.length > 2_000) {
    return undefined;
  }
  const base = 'https://console.invalid';
  if (!URL.canParse(wanted, base)) return undefined;
  const url = new URL(wanted, base);
  if (url.origin !== base || url.pathname.startsWith('//')) return undefined;
  return url.pathname + url.search + url.hash;
}
