/** Files that a tool may have prepared for its agent. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readToolFile, ToolFileError } from '../../src/process/tool-file.ts';

/** For a file that would keep its reader waiting forever. */
const options = { timeout: 60_000 };

function setup(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-file-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'file');
}

async function refuses(file: string, why: RegExp, uid?: number): Promise<void> {
  await assert.rejects(readToolFile(file, { bytesMax: 100, uid }), (error) => {
    assert.ok(error instanceof ToolFileError, String(error));
    assert.match(error.message, why);
    return true;
  });
}

test('a regular file up to its limit is read, and a missing one is null', async (t) => {
  const file = setup(t);
  assert.equal(await readToolFile(file, { bytesMax: 100 }), null);
  writeFileSync(file, 'x'.repeat(100));
  const bytes = await readToolFile(file, { bytesMax: 100, uid: process.getuid?.() });
  assert.equal(bytes?.length, 100);
});

test('a pipe without a writer is refused at once', options, async (t) => {
  let file = '';
  // Ends a reader that waits after all, before the folder is removed.
  t.after(() => closeSync(openSync(file, constants.O_RDWR | constants.O_NONBLOCK)));
  file = setup(t);
  execFileSync('mkfifo', [file]);
  await refuses(file, /not a regular file/);
});

test('a link is refused, to a device as to a file', options, async (t) => {
  const file = setup(t);
  const target = `${file}-of-a-person`;
  writeFileSync(target, 'secret');
  for (const to of ['/dev/zero', target]) {
    symlinkSync(to, file);
    await refuses(file, /it is a link/);
    rmSync(file);
  }
});

test('what is no regular file is refused', async (t) => {
  const file = setup(t);
  mkdirSync(file);
  await refuses(file, /not a regular file/);
});

test('a file above its limit is refused, and is not read whole', async (t) => {
  const file = setup(t);
  writeFileSync(file, 'x'.repeat(101));
  await refuses(file, /larger than 100 bytes/);
  // More than memory holds; the file has holes only.
  truncateSync(file, 2 ** 43);
  await refuses(file, /larger than 100 bytes/);
});

test('a file of another user is refused', async (t) => {
  const file = setup(t);
  writeFileSync(file, '{}');
  await refuses(file, /belongs to another user/, (process.getuid?.() ?? 0) + 1);
});
