// Reads the JSON of the documents. e2e/12-packages-sqlite.test.ts compiles their TypeScript.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listDocuments } from '../../check/source-files.ts';
import { readBlocks } from '../blocks.ts';

const root = join(import.meta.dirname, '../../..');

test('every JSON block of the documents is JSON', () => {
  const snippets = listDocuments(root)
    .flatMap((page) =>
      readBlocks(readFileSync(join(root, page), 'utf8')).map((block) => ({ page, ...block })),
    )
    .filter(({ language }) => language === 'json');
  assert.ok(snippets.length >= 2, 'the documents have JSON');
  for (const { page, line, text } of snippets) {
    assert.doesNotThrow(() => JSON.parse(text), `${page}:${line}`);
  }
});
