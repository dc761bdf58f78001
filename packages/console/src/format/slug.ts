export const SLUG_CHARS_MAX = 63;
const slugShape = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

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

/** The slug of a new workspace: derived from its name until the person enters one. */
export function slugFor(form: { workspaceName: string; workspaceSlug: string }): string {
  return form.workspaceSlug === '' ? slugOf(form.workspaceName) : form.workspaceSlug;
}

/** The error of a slug; the hub checks it again. */
export function findSlugFault(slug: string): string | undefined {
  if (slug === '') return 'Enter a slug, such as acme.';
  return slugShape.test(slug)
    ? undefined
    : 'Use lower-case letters, digits and inner dashes only, such as acme-api.';
}
