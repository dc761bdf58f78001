import { escapeHtml } from './markdown.ts';
import { siteSections } from './site-map.ts';

export interface ShellPage {
  /** Below `/docs/`; empty for the first page. */
  path: string;
  title: string;
  html: string;
  /** Whether the page has forms that send requests. */
  hasForms?: boolean;
}

/** Pages that are made from the code, under their section. */
export interface MadePage {
  path: string;
  title: string;
}

/**
 * The whole HTML of a page. It loads nothing but the site's own files. Without a script it lacks the
 * search and the buttons that copy.
 */
export function writeShell(page: ShellPage, reference: readonly MadePage[]): string {
  const title = page.path === '' ? 'Signalbox documentation' : `${page.title} – Signalbox`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/docs.css">
<script src="/docs/docs.js" type="module"></script>
${page.hasForms === true ? '<script src="/docs/api.js" defer></script>' : ''}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a class="name" href="/docs">Signalbox <span>docs</span></a>
<search hidden><input type="search" aria-label="Search the documentation" placeholder="Search ( / )">
<ol></ol></search>
<div><a class="to-pages" href="#pages">Pages</a><a href="/">Console</a></div></header>
<div class="columns">
<nav id="pages" aria-label="Documentation">
${writeNavigation(page.path, reference)}
</nav>
<main id="content">
${page.html}
</main>
</div>
</body>
</html>
`;
}

function writeNavigation(current: string, reference: readonly MadePage[]): string {
  return siteSections
    .map(({ title, pages }) => {
      const all = title === 'Reference' ? [...pages, ...reference] : pages;
      const items = all.map(({ path, title: name }) => {
        const mark = path === current ? ' aria-current="page"' : '';
        return `<li><a href="/docs/${path}"${mark}>${escapeHtml(name)}</a></li>`;
      });
      return `<h2>${title}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
    })
    .join('\n');
}
