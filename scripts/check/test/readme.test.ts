// Checks the statements of the documents about settings, commands and files.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { settings } from '@signalbox/hub';
import { listFiles } from '../source-files.ts';

const root = join(import.meta.dirname, '../../..');
const pages = ['README.md', 'CHANGELOG.md', ...listFiles(root, 'docs', ['.md'])];
const readPage = (page: string) => readFileSync(join(root, page), 'utf8');

test('the README has a row for every setting, with its flag, default and description, in order', () => {
  const expected = Object.values(settings).map((setting) => [
    setting.env,
    `--${setting.flag}`,
    setting.default,
    setting.description,
  ]);
  assert.deepEqual(readTable(readPage('README.md'), '<!-- settings -->'), expected);
});

test('no existing setting is listed as not yet available', () => {
  const names = readTable(readPage('README.md'), '<!-- settings to come -->').map(([name]) => name);
  const available = Object.values(settings).map(({ env }): string => env);
  const early = names.filter((name) => {
    const [prefix = '', ...rest] = (name ?? '').split('*');
    return available.some((env) => (rest.length > 0 ? env.startsWith(prefix) : env === name));
  });
  assert.ok(names.length > 0, 'the table exists');
  assert.deepEqual(early, []);
});

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

/** The rows of the table after a mark, without its head and backticks. */
function readTable(page: string, mark: string): string[][] {
  const [, after = ''] = page.split(`${mark}\n`);
  const table = after.split(/\n(?!\|)/)[0] ?? '';
  const rows = table.split('\n').map((line) => line.split('|').slice(1, -1));
  return rows.slice(2).map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')));
}

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
