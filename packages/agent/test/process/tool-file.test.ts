/** Files that a tool may have prepared for its agent. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  appendToToolFile,
  readToolFile,
  removeToolTree,
  replaceToolFile,
  ToolFileError,
} from '../../src/process/tool-file.ts';

/** For a file that would keep its reader waiting forever. */
const options = { timeout: 60_000 };

function setup(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-file-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'file');
}

async function refuses(file: string, why: RegExp, uid?: number): Promise<void> {
  await isRefused(readToolFile(file, { bytesMax: 100, uid }), why);
}

async function isRefused(action: Promise<unknown>, why: RegExp): Promise<void> {
  await assert.rejects(action, (error) => {
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

test('a file with a second name elsewhere is refused', async (t) => {
  const file = setup(t);
  writeFileSync(`${file}-of-a-person`, 'secret');
  linkSync(`${file}-of-a-person`, file);
  await refuses(file, /several names/);
});

test('a link in the middle of a path is refused, also one that stays inside', async (t) => {
  const below = join(setup(t), '..');
  const outside = setup(t);
  mkdirSync(join(below, 'folder'));
  for (const folder of [outside, join(below, 'folder')]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'file'), 'text');
    symlinkSync(folder, join(below, 'link'));
    const file = join(below, 'link', 'file');
    await isRefused(readToolFile(file, { below, bytesMax: 100 }), /is a link/);
    rmSync(join(below, 'link'));
  }
  const file = join(below, 'folder', 'file');
  assert.equal(String(await readToolFile(file, { below, bytesMax: 100 })), 'text');
  // The directory of the tool itself was exchanged.
  symlinkSync(outside, join(below, 'link'));
  await refuses(join(below, 'link', 'file'), /is a link/);
  await isRefused(readToolFile(file, { below: join(below, 'gone', 'x'), bytesMax: 1 }), /outside/);
});

const traps = {
  'a link': (file: string, target: string) => symlinkSync(target, file),
  'a link to nothing': (file: string, target: string) => symlinkSync(`${target}-new`, file),
  'a file with several names': (file: string, target: string) => linkSync(target, file),
  'a pipe': (file: string) => execFileSync('mkfifo', [file]),
  'a folder': (file: string) => mkdirSync(file),
};
for (const [name, set] of Object.entries(traps)) {
  test(`nothing is appended to ${name}`, options, async (t) => {
    const file = setup(t);
    const target = `${file}-of-a-person`;
    writeFileSync(target, 'precious');
    set(file, target);
    await isRefused(appendToToolFile(file, 'line\n'), /link|regular file/);
    assert.equal(readFileSync(target, 'utf8'), 'precious');
    assert.equal(existsSync(`${target}-new`), false);
  });
}

test('lines of several processes are appended whole', async (t) => {
  const file = setup(t);
  await Promise.all(['a', 'b', 'c'].map((line) => appendToToolFile(file, `${line}\n`)));
  assert.deepEqual(readFileSync(file, 'utf8').split('\n').sort(), ['', 'a', 'b', 'c']);
});

test('a file is replaced by a new one, and what was there is not written to', async (t) => {
  const below = dirname(setup(t));
  const outside = setup(t);
  mkdirSync(outside);
  const person = join(outside, 'precious');
  writeFileSync(person, 'precious');
  const place = { below, user: null };
  const file = join(below, 'a', 'b', 'file');
  for (let times = 0; times < 2; times++) {
    await replaceToolFile(file, place, (handle) => handle.writeFile('new'));
    assert.equal(lstatSync(file).isFile(), true);
    assert.equal(readFileSync(file, 'utf8'), 'new');
    assert.deepEqual(readdirSync(dirname(file)), ['file']);
    rmSync(file);
    symlinkSync(person, file);
  }
  rmSync(dirname(file), { recursive: true });
  symlinkSync(outside, dirname(file));
  const again = replaceToolFile(file, place, (handle) => handle.writeFile('new'));
  await isRefused(again, /is a link/);
  assert.equal(readFileSync(person, 'utf8'), 'precious');
  assert.deepEqual(readdirSync(outside), ['precious']);
});

test('deleting goes through no link, also while a process exchanges folders', async (t) => {
  const tree = setup(t);
  const outside = setup(t);
  const person = join(outside, 'folder', 'precious');
  mkdirSync(dirname(person), { recursive: true });
  // Renames a folder away and puts a link into its place, again and again.
  const script = `
    const fs = require('node:fs');
    process.stdout.write('begun');
    for (;;) {
      try { fs.renameSync('folder', 'away'); fs.symlinkSync(${JSON.stringify(outside)}, 'folder'); } catch {}
      try { fs.unlinkSync('folder'); fs.renameSync('away', 'folder'); } catch {}
      try { fs.mkdirSync('folder/folder', { recursive: true }); } catch {}
    }`;
  for (let times = 0; times < 20; times++) {
    for (let at = 0; at < 50; at++) {
      mkdirSync(join(tree, 'folder', 'folder', String(at)), { recursive: true });
    }
    writeFileSync(person, 'precious');
    const child = spawn(process.execPath, ['-e', script], { cwd: tree });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    // It may fail: the folder is not empty for long enough.
    await removeToolTree(tree).catch(() => {});
    child.kill('SIGKILL');
    await ended;
    assert.equal(readFileSync(person, 'utf8'), 'precious');
  }
});

test('a file that grows while it is read is read, and not too large', options, async (t) => {
  const file = setup(t);
  writeFileSync(file, '');
  let isWriting = true;
  const writer = (async () => {
    for (let line = 0; line < 2_000; line++) await appendToToolFile(file, `line ${line}\n`);
    isWriting = false;
  })();
  while (isWriting) {
    const text = String(await readToolFile(file, { bytesMax: 1_000_000 }));
    assert.ok(text === '' || text.startsWith('line 0\n'));
  }
  await writer;
});
