// Compiles the TypeScript and reads the JSON of the documents.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listDocuments } from '../../check/source-files.ts';
import { readBlocks } from '../blocks.ts';

const root = join(import.meta.dirname, '../../..');
const blocks = listDocuments(root).flatMap((page) =>
  readBlocks(readFileSync(join(root, page), 'utf8')).map((block) => ({ page, ...block })),
);

test('every TypeScript block of the documents compiles', (t) => {
  const snippets = blocks.filter(({ language }) => language === 'ts');
  assert.ok(snippets.length >= 2, 'the documents have TypeScript');
  // Inside the project, so that imports find the packages, and ignored by git.
  const folder = mkdtempSync(join(root, 'dist-snippets-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const names = snippets.map(({ page, line, text }) => {
    const name = `${page.replaceAll(/[/.]/g, '-')}-${line}.ts`;
    writeFileSync(join(folder, name), `${text}\nexport {};\n`);
    return name;
  });
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../tsconfig.json', include: names, exclude: [] }),
  );
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', folder, '--noEmit'], { encoding: 'utf8' });
  } catch (error) {
    assert.fail((error as { stdout: string }).stdout);
  }
});

test('every JSON block of the documents is JSON', () => {
  const snippets = blocks.filter(({ language }) => language === 'json');
  assert.ok(snippets.length >= 2, 'the documents have JSON');
  for (const { page, line, text } of snippets) {
    assert.doesNotThrow(() => JSON.parse(text), `${page}:${line}`);
  }
});
