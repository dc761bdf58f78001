import { expect, test } from 'vitest';
import { parsePatch } from '../src/format/patch.ts';

test('a changed file has its counts, and its lines their numbers', () => {
  const [file] = parsePatch(
    [
      'diff --git a/src/add.ts b/src/add.ts',
      'index 2b3c4d5..6e7f8a9 100644',
      '--- a/src/add.ts',
      '+++ b/src/add.ts',
      '@@ -4,3 +4,4 @@ function add()',
      ' same',
      '--- a deleted line that looks like a header',
      '+one',
      '+two',
      ' end',
      '\\ No newline at end of file',
      '',
    ].join('\n'),
  );
  expect(file).toMatchObject({ path: 'src/add.ts', change: 'changed', added: 2, deleted: 1 });
  expect(file?.hunks[0]?.lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
    ['same', 4, 4],
    ['deleted', 5, null],
    ['added', null, 5],
    ['added', null, 6],
    ['same', 6, 7],
  ]);
});

test('new, deleted, renamed and binary files are told apart', () => {
  const files = parsePatch(
    [
      'diff --git a/new.txt b/new.txt',
      'new file mode 100644',
      '--- /dev/null',
      '+++ b/new.txt',
      '@@ -0,0 +1 @@',
      '+hello',
      'diff --git a/old.txt b/old.txt',
      'deleted file mode 100644',
      '--- a/old.txt',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-bye',
      'diff --git a/a.txt b/sub/b.txt',
      'similarity index 100%',
      'rename from a.txt',
      'rename to sub/b.txt',
      'diff --git a/logo.png b/logo.png',
      'Binary files a/logo.png and b/logo.png differ',
    ].join('\n'),
  );
  expect(
    files.map(({ path, oldPath, change, isBinary }) => [path, oldPath, change, isBinary]),
  ).toEqual([
    ['new.txt', null, 'added', false],
    ['old.txt', null, 'deleted', false],
    ['sub/b.txt', 'a.txt', 'renamed', false],
    ['logo.png', null, 'changed', true],
  ]);
});

test('a quoted name is decoded', () => {
  const [file] = parsePatch(
    'diff --git "a/f\\303\\274nf \\"x\\".md" "b/f\\303\\274nf \\"x\\".md"\n' +
      '--- "a/f\\303\\274nf \\"x\\".md"\n+++ "b/f\\303\\274nf \\"x\\".md"\n@@ -1 +1 @@\n-a\n+b',
  );
  expect(file?.path).toBe('fünf "x".md');
});

test('a patch that ends in the middle of a hunk, and other text, are read as far as possible', () => {
  expect(parsePatch('')).toEqual([]);
  expect(parsePatch('no patch\n@@ -1 +1 @@\n+x')).toEqual([]);
  const [file] = parsePatch('diff --git a/x b/x\n@@ -1,9 +1,9 @@\n+only');
  expect(file).toMatchObject({ path: 'x', added: 1, deleted: 0 });
  const cut = 'diff --git a/x b/x\n@@ -1,9 +1,9 @@\n+only\ndiff --git a/y b/y\n@@ -1 +1 @@\n-a\n+b';
  expect(parsePatch(cut).map(({ path, added }) => [path, added])).toEqual([
    ['x', 1],
    ['y', 1],
  ]);
});
