import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { endpointList } from '@signalbox/contract';
import { listFiles } from '../../check/source-files.ts';
import { renderMarkdown } from '../site/markdown.ts';
import { listSources, pathOf, readSections } from '../site/site-map.ts';
import { packageFiles, sectionsOf, writeSite } from '../site/write-site.ts';

const root = join(import.meta.dirname, '../../..');
let site = '';

before(async () => {
  site = mkdtempSync(join(tmpdir(), 'signalbox-site-'));
  await writeSite(root, site);
});
after(() => rmSync(site, { recursive: true, force: true }));

const readSite = (file: string) => readFileSync(join(site, file), 'utf8');

test('the navigation has every document that the decisions do not list', () => {
  const linked = readSections(root).flatMap(({ pages }) => pages.map(({ path }) => path));
  const expected = listSources(root)
    .map(pathOf)
    .filter((path) => path !== '' && !path.startsWith('decisions/'));
  assert.deepEqual(linked.toSorted(), expected.toSorted());
});

test('every link of every page leads to a page, a file or a heading that exists', () => {
  const pages = listFiles(site, 'docs', ['.html']);
  const broken = pages.flatMap((page) => {
    const links = [...readSite(page).matchAll(/(?:href|src)="(\/[^"]*|#[^"]*)"/g)];
    return links
      .map(([, target = '']) => target)
      .filter((target) => !isThere(page, target))
      .map((target) => `${page}: ${target}`);
  });
  assert.ok(pages.length > 40, `${pages.length} pages`);
  assert.deepEqual(broken, []);
});

test('every link of the console to the documentation leads to a page', () => {
  const sources = listFiles(root, 'packages/console/src', ['.ts', '.tsx']);
  const links = sources.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/"(\/docs\/[^"]*)"/g)].map(
      ([, to = '']) => to,
    ),
  );
  assert.ok(links.length > 8, `${links.length} links`);
  assert.deepEqual(
    links.filter((to) => !isThere('', to)),
    [],
  );
});

/** `/` and `/favicon.svg` are the console's. */
function isThere(page: string, target: string): boolean {
  if (target === '/' || target === '/favicon.svg') return true;
  const [path = '', heading] = target.split('#', 2);
  const file = path === '' ? page : fileOf(path);
  if (file === undefined) return false;
  return heading === undefined || readSite(file).includes(`id="${heading}"`);
}

function fileOf(path: string): string | undefined {
  const name = path.slice(1);
  return [name, `${name}.html`, `${name}/index.html`].find(
    (file) => existsSync(join(site, file)) && file.includes('.'),
  );
}

test('every endpoint has its section', () => {
  const pages = listFiles(site, 'docs/reference/api', ['.html']).map(readSite).join('\n');
  for (const { name } of endpointList) assert.ok(pages.includes(`id="${name}"`), name);
});

test('llms.txt lists pages in Markdown that exist', () => {
  const links = [...readSite('llms.txt').matchAll(/\]\((\/[^)]+)\)/g)].map(([, path = '']) => path);
  assert.ok(links.length > 40, `${links.length} links`);
  assert.deepEqual(
    links.filter((path) => !existsSync(join(site, path))),
    [],
  );
});

test('a page holds no raw HTML of its Markdown, and no script of its own', () => {
  const { html } = renderMarkdown(
    '# A\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) `<b>`\n\n```js\n<i>\n```\n',
    'docs/a.md',
    () => null,
  );
  assert.doesNotMatch(html, /<script|javascript:|<b>|<i>/);
  assert.match(html, /&lt;b&gt;/);
});

test('the search finds the text under each heading, at an address that exists', () => {
  const sections = JSON.parse(readSite('docs/search.json')) as ReturnType<typeof sectionsOf>;
  const ids = sections.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, 'each address once');
  assert.deepEqual(
    ids.filter((id) => !isThere('docs/index.html', id)),
    [],
  );
  const html = '<h1 id="a">One &amp; <code>two</code></h1><p>Text</p><h2 id="b">B</h2>x &lt; y';
  assert.deepEqual(sectionsOf('/docs/p', 'P', html), [
    { id: '/docs/p#a', page: 'P', heading: 'One & two', text: 'Text' },
    { id: '/docs/p#b', page: 'P', heading: 'B', text: 'x < y' },
  ]);
});

test('the packages of the site are installed by npm start, which leaves out those of development', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const source of Object.values(packageFiles)) {
    const [name = ''] = /^(?:@[^/]+\/)?[^/]+/.exec(source) ?? [];
    assert.equal(packages[`node_modules/${name}`]?.dev, undefined, name);
  }
});
