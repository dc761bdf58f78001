import { escapeHtml } from './markdown.ts';
import type { SitePage, SiteSection } from './site-map.ts';

export interface ShellPage extends SitePage {
  readonly html: string;
}

/**
 * The whole HTML of a page. It loads nothing but the site's own files. Without scripts it has
 * neither the search nor the buttons that copy.
 */
export function writeShell(page: ShellPage, sections: readonly SiteSection[]): string {
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
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a class="name" href="/docs">Signalbox <span>docs</span></a>
<search hidden><input type="search" aria-label="Search the documentation" placeholder="Search ( / )">
<ol></ol></search>
<div><a class="to-pages" href="#pages">Pages</a><a href="/">Console</a></div></header>
<div class="columns">
<nav id="pages" aria-label="Documentation">
${writeNavigation(page.path, sections)}
</nav>
<main id="content">
${page.html}
</main>
</div>
</body>
</html>
`;
}

function writeNavigation(current: string, sections: readonly SiteSection[]): string {
  return sections
    .map(({ title, pages }) => {
      const items = pages.map(({ path, title: name }) => {
        const mark = path === current ? ' aria-current="page"' : '';
        return `<li><a href="/docs/${path}"${mark}>${escapeHtml(name)}</a></li>`;
      });
      return `<h2>${title}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
    })
    .join('\n');
}
