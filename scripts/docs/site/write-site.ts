import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeApiPages } from './api-pages.ts';
import { writeCommandPage } from './command-page.ts';
import { writeErrorPage } from './error-page.ts';
import { renderMarkdown } from './markdown.ts';
import { writeShell } from './shell.ts';
import { listSources, pathOf, readSections } from './site-map.ts';

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
  const sources = new Set(listSources(root));
  const resolveLink = (file: string) => (sources.has(file) ? addressOf(pathOf(file)) : null);
  const apiPages = writeApiPages();
  const made = [
    { path: 'reference/commands', title: 'Commands', text: await writeCommandPage() },
    { path: 'reference/errors', title: 'Error codes', text: writeErrorPage() },
    { path: 'reference/api', title: 'HTTP API', text: writeApiIndex(apiPages) },
  ];
  const navigation = readSections(root).map(({ title, pages }) => {
    return { title, pages: title === 'Reference' ? [...pages, ...made] : pages };
  });
  const documents = [...sources].map((source) => {
    return { source, path: pathOf(source), text: readFileSync(join(root, source), 'utf8') };
  });
  const texts = [
    ...documents,
    ...made.map((page) => ({ ...page, source: `docs/${page.path}.md` })),
  ].map((page) => ({ ...page, ...renderMarkdown(page.text, page.source, resolveLink) }));
  const pages = [...texts, ...apiPages];
  for (const page of pages) {
    write(outDir, fileOf(page.path, 'html'), writeShell(page, navigation));
  }
  for (const { path, text } of texts) write(outDir, fileOf(path, 'md'), text);
  const sections = pages.flatMap(({ path, title, html }) => {
    return sectionsOf(addressOf(path), title, html);
  });
  write(outDir, 'docs/search.json', JSON.stringify(sections));
  write(outDir, 'docs/404.html', writeShell(missingPage, navigation));
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

function addressOf(path: string): string {
  return path === '' ? '/docs' : `/docs/${path}`;
}

function fileOf(path: string, ending: 'html' | 'md'): string {
  return `docs/${path === '' ? 'index' : path}.${ending}`;
}

function writeApiIndex(pages: readonly { path: string; title: string }[]): string {
  const lines = pages.map(({ path, title }) => `- [${title}](/docs/${path})`);
  return `# HTTP API

JSON over HTTP, described for programs at \`/control-plane/openapi.json\`. Each page lists the requests of one
group with their fields and an example.

${lines.join('\n')}
`;
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
