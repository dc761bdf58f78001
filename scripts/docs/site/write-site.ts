import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles } from '../../check/source-files.ts';
import { writeApiPages } from './api-pages.ts';
import { writeCommandPage } from './command-page.ts';
import { writeErrorPage } from './error-page.ts';
import { renderMarkdown } from './markdown.ts';
import { writeShell } from './shell.ts';
import { decisionsFolder, indexPage, type SitePage, siteSections } from './site-map.ts';

const assets = join(import.meta.dirname, 'assets');
/** Files of packages that pages load, by their name on the site. `npm start` must install these. */
export const packageFiles = {
  'minisearch.js': 'minisearch',
  'inter.woff2': '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
};

const missingPage = {
  path: '404',
  title: 'Not found',
  html: '<h1>Not found</h1>\n<p>There is no such page. It may have moved: look in the list of pages.</p>',
};

/**
 * Writes the documentation that the hub serves at `/docs`: one HTML file per page, each page's
 * Markdown beside it, and `llms.txt` for coding agents.
 *
 * @param outDir receives `docs/` and `llms.txt`.
 */
export async function writeSite(root: string, outDir: string): Promise<void> {
  const pages = listPages(root);
  const addresses = new Map(pages.map(({ source, path }) => [source, addressOf(path)]));
  const resolveLink = (file: string) => addresses.get(file) ?? null;
  const apiPages = writeApiPages();
  const commandPage = await writeCommandPage();
  const made = [
    { path: 'reference/commands', title: 'Commands', text: commandPage },
    { path: 'reference/errors', title: 'Error codes', text: writeErrorPage() },
  ];
  const apiIndex = writeApiIndex(apiPages);
  const reference = [
    ...made.map(({ path, title }) => ({ path, title })),
    { path: apiIndex.path, title: apiIndex.title },
  ];
  const texts = [
    ...pages.map((page) => ({ ...page, text: readFileSync(join(root, page.source), 'utf8') })),
    ...[...made, apiIndex].map((page) => ({ ...page, source: `docs/${page.path}.md` })),
  ];
  const sections: SearchSection[] = [];
  for (const { path, source, text } of texts) {
    const { html, title } = renderMarkdown(text, source, resolveLink);
    sections.push(...sectionsOf(addressOf(path), title, html));
    write(outDir, fileOf(path, 'html'), writeShell({ path, title, html }, reference));
    write(outDir, fileOf(path, 'md'), text);
  }
  for (const page of apiPages) {
    sections.push(...sectionsOf(addressOf(page.path), page.title, page.html));
    write(outDir, fileOf(page.path, 'html'), writeShell({ ...page, hasForms: true }, reference));
  }
  write(outDir, 'docs/search.json', JSON.stringify(sections));
  write(outDir, 'docs/404.html', writeShell(missingPage, reference));
  write(outDir, 'llms.txt', writeLlmsText(texts));
  cpSync(assets, join(outDir, 'docs'), { recursive: true });
  for (const [name, source] of Object.entries(packageFiles)) {
    cpSync(fileURLToPath(import.meta.resolve(source)), join(outDir, 'docs', name));
  }
}

/** The text under one heading: the search of the site finds these. */
interface SearchSection {
  /** The address, with the anchor of the heading. */
  id: string;
  page: string;
  heading: string;
  text: string;
}

/** The sections of a page. The search of the site is over these. */
export function sectionsOf(address: string, page: string, html: string): SearchSection[] {
  const [, ...parts] = html.split(/<h[1-3] id="([^"]*)">/);
  const sections: SearchSection[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [heading = '', ...rest] = (parts[at + 1] ?? '').split(/<\/h[1-3]>/);
    const id = `${address}#${parts[at]}`;
    sections.push({ id, page, heading: textOf(heading), text: textOf(rest.join(' ')) });
  }
  return sections;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(amp|lt|gt|quot);/g, (_, name: string) => entities[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** All pages that are Markdown files of the repository. */
export function listPages(root: string): SitePage[] {
  const decisions = listFiles(root, decisionsFolder, ['.md'])
    .filter((source) => basename(source) !== 'README.md')
    .map((source) => {
      const name = basename(source, '.md');
      return { source, path: `decisions/${name}`, title: name };
    });
  return [indexPage, ...siteSections.flatMap(({ pages }) => pages), ...decisions];
}

function addressOf(path: string): string {
  return path === '' ? '/docs' : `/docs/${path}`;
}

function fileOf(path: string, ending: 'html' | 'md'): string {
  return `docs/${path === '' ? 'index' : path}.${ending}`;
}

function writeApiIndex(pages: readonly { path: string; title: string }[]) {
  const lines = pages.map(({ path, title }) => `- [${title}](/docs/${path})`);
  const text = `# HTTP API

JSON over HTTP, described for programs at \`/control-plane/openapi.json\`. Each page lists the requests of one
group with their fields, and can send one to this hub.

${lines.join('\n')}
`;
  return { path: 'reference/api', title: 'HTTP API', text };
}

/** The site for coding agents: an index of its pages as plain Markdown (llmstxt.org). */
function writeLlmsText(pages: readonly { path: string; title: string }[]): string {
  const lines = pages.map(({ path, title }) => `- [${title}](/${fileOf(path, 'md')})`);
  return `# Signalbox

> A self-hosted control plane for coding agents. A hub hands out jobs to agents under a lease, asks people when an
> agent is unsure, and keeps the evidence. JSON over HTTP at /control-plane; OpenAPI at /control-plane/openapi.json.

A tool that works on a job finds its prompt in the file named by SIGNALBOX_PROMPT_FILE, and may call this hub with
SIGNALBOX_JOB_TOKEN.

## Pages

${lines.join('\n')}
`;
}

function write(outDir: string, file: string, text: string): void {
  const path = join(outDir, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
