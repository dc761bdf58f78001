import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { composePage } from './page.ts';
import { sections } from './row.ts';
import { conformanceRows } from './rows.ts';
import { elsewhereRows } from './rows-elsewhere.ts';

const root = join(import.meta.dirname, '../../../..');

test('docs/CONFORMANCE.md matches the table', () => {
  const page = readFileSync(join(root, 'docs/CONFORMANCE.md'), 'utf8');
  const isCurrent = page === composePage(conformanceRows, elsewhereRows);
  assert.ok(isCurrent, 'the page is out of date: npm run conformance updates it');
});

test('every section of the specification has a row', () => {
  const held = new Set(conformanceRows.map(({ section }) => section));
  assert.deepEqual(
    sections.filter((section) => !held.has(section)),
    [],
  );
});

test('the tests that the page names exist', () => {
  const missing = elsewhereRows.filter(({ test: path }) => !existsSync(join(root, path)));
  assert.deepEqual(missing, []);
});

test('a statement is printed as text, with its Markdown characters escaped', () => {
  const statement = 'a <b> | `c` [d](e) *f* changed_files[]';
  const row = { id: 'x-1', section: sections[0], statement, check: async () => undefined };
  const line = '| a &lt;b> \\| \\`c\\` \\[d\\](e) \\*f\\* changed\\_files\\[\\] | `x-1` |';
  assert.ok(composePage([row], []).includes(line));
});
