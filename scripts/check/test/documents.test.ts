// Checks the statements of the documents about commands and files.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { listDocuments } from '../source-files.ts';

const root = join(import.meta.dirname, '../../..');
const pages = listDocuments(root);
const readPage = (page: string) => readFileSync(join(root, page), 'utf8');

test('every relative link in the documents leads to an existing file and heading', () => {
  const links = pages.flatMap((page) =>
    readLinks(readPage(page)).map((link) => ({ page, ...link })),
  );
  const broken = links.filter(({ page, path, heading }) => {
    const target = path === '' ? page : relative(root, join(root, dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    return heading !== '' && !listHeadings(readPage(target)).includes(heading);
  });
  assert.ok(links.length > 0, 'the documents link to each other');
  assert.deepEqual(broken, []);
});

test('every npm script in the documents exists', () => {
  const manifest = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> };
  const named = pages.flatMap((page) => {
    const scripts = readPage(page).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g);
    return [...scripts].map(([, run, short]) => run ?? short ?? '');
  });
  assert.ok(named.includes('start') && named.includes('test'), 'both commands are documented');
  const missing = named.filter((name) => !(name in manifest.scripts));
  assert.deepEqual(missing, []);
});

test('every page of docs is linked from another one', () => {
  const linked = pages.flatMap((page) =>
    readLinks(readPage(page)).map(({ path }) => join(dirname(page), path)),
  );
  const unlinked = pages.filter((page) => page.startsWith('docs/') && !linked.includes(page));
  assert.deepEqual(unlinked, []);
});

/** Links within the project; code blocks are skipped. */
function readLinks(page: string): { path: string; heading: string }[] {
  const prose = page.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', heading = ''] = target.split('#');
      return { path, heading };
    });
}

/** The anchors that GitHub and similar sites generate for the headings of a page. */
function listHeadings(page: string): string[] {
  const headings = page.replace(/```[\s\S]*?```/g, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );
}
