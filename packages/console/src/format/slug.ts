const SLUG_CHARS_MAX = 63;

/** Derives a slug from a name: `Ärzte & Co.` → `arzte-co`. May be empty. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARS_MAX)
    .replace(/^-+|-+$/g, '');
}
