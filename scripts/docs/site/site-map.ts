import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { listFiles } from '../../check/source-files.ts';

/** A page of the site. */
export interface SitePage {
  /** Below `/docs/`, without an ending; empty for the first page. */
  readonly path: string;
  readonly title: string;
}

export interface SiteSection {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

/** The documents of `docs/`, each of which is a page, as paths of the repository. */
export function listSources(root: string): string[] {
  return listFiles(root, 'docs', ['.md']);
}

/** `docs/GLOSSARY.md` is at `/docs/glossary`, `docs/decisions/README.md` at `/docs/decisions`. */
export function pathOf(source: string): string {
  return source.replace(/^docs\/|\/?(README)?\.md$/g, '').toLowerCase();
}

/** The navigation: a paragraph of `docs/README.md` is a section with the pages that it names. */
export function readSections(root: string): SiteSection[] {
  const page = readFileSync(join(root, 'docs/README.md'), 'utf8');
  return page.split('\n\n').flatMap((paragraph) => {
    const [, title] = /^\*\*(\w+)\*\*/.exec(paragraph) ?? [];
    if (title === undefined) return [];
    const links = paragraph.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g);
    const pages = [...links].map(([, text = '', target = '']) => ({
      path: pathOf(posix.join('docs', target)),
      title: `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/\s+/g, ' '),
    }));
    return [{ title, pages }];
  });
}
