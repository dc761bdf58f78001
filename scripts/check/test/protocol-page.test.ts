// Comments cite docs/reference/protocol.md by section and docs/reference/specification.md by
// heading, so those sections must exist.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { endpointList, listErrorCodes } from '@signalbox/contract';
import { codeFolders, listFiles } from '../source-files.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const protocol = read('docs/reference/protocol.md');
const specification = read('docs/reference/specification.md');

/** The rest of a citation after a page's name; a comment may wrap its lines within it. */
function listCitations(page: string, target: RegExp): { path: string; cited: string }[] {
  const pattern = new RegExp(`${page.replaceAll('.', '\\.')},[\\s*/]+${target.source}`, 'g');
  return codeFolders
    .flatMap((folder) => listFiles(root, folder, ['.ts', '.tsx']))
    .flatMap((path) =>
      [...read(path).matchAll(pattern)].map(([, cited = '']) => ({ path, cited })),
    );
}

test('every cited section of the protocol exists', () => {
  const sections = [...protocol.matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm)].map(
    ([, number]) => number,
  );
  assert.equal(new Set(sections).size, sections.length);
  const citations = listCitations('reference/protocol.md', /section (\d+(?:\.\d+)?)/);
  assert.ok(citations.length > 5);
  for (const { path, cited } of citations) assert.ok(sections.includes(cited), `${path}: ${cited}`);
});

test('every cited heading of the specification exists', () => {
  const headings = [...specification.matchAll(/^#{2,3} (.+)$/gm)].map(
    ([, heading = '']) => heading,
  );
  const citations = listCitations('reference/specification.md', /([A-Z][a-z]+(?: [a-z]+)*)/);
  assert.ok(citations.length > 5);
  for (const { path, cited } of citations) {
    assert.ok(
      headings.some((heading) => heading.startsWith(cited)),
      `${path}: ${cited}`,
    );
  }
});

test('the page lists every error code of the control plane and no other', () => {
  const table = /### 1\.3 [\s\S]*?\n### /.exec(protocol)?.[0] ?? '';
  const listed = [...table.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, code]) => code);
  const answered = new Set<string>(endpointList.flatMap(listErrorCodes));
  assert.equal(new Set(listed).size, listed.length);
  assert.deepEqual(new Set<string | undefined>(listed), answered);
});

test('the page names every endpoint that the specification does not', () => {
  const extensions = endpointList.filter(({ origin, bytes }) => origin === 'extension' && !bytes);
  const missing = extensions.filter(({ path }) => {
    const [group = '', verb = ''] = path.split('/').slice(-2);
    return !protocol.includes(`${group}/`) || !new RegExp(`[\`/]${verb}\``).test(protocol);
  });
  assert.deepEqual(
    missing.map(({ path }) => path),
    [],
  );
});
