import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import {
  createKeyFile,
  isDataDirectoryLocked,
  lockDataDirectory,
  prepareDataDirectory,
  readKeyFile,
  StartError,
} from '../../src/db/data-directory.ts';
import { makeTempDir } from '../support/temp-dir.ts';

test('creates the directory and a key that only the owner may read, and uses both again', (t) => {
  const path = join(makeTempDir(t), 'deep', 'data');
  const first = prepareDataDirectory(path);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.deepEqual(prepareDataDirectory(path), first);
  assert.equal(readKeyFile(path), null, 'the directory comes without a key');
  const key = createKeyFile(path);
  assert.equal(key.length, 32);
  assert.equal(statSync(join(path, 'secret.key')).mode & 0o777, 0o600);
  assert.deepEqual([createKeyFile(path), readKeyFile(path)], [key, key]);
});

test('refuses a path that is a file', (t) => {
  const path = join(makeTempDir(t), 'file');
  writeFileSync(path, '');
  assert.throws(() => prepareDataDirectory(path), StartError);
});

test('refuses a key that others may read, and a directory that others may write', (t) => {
  const path = makeTempDir(t);
  prepareDataDirectory(path);
  createKeyFile(path);
  const key = join(path, 'secret.key');
  for (const mode of [0o666, 0o640, 0o604]) {
    chmodSync(key, mode);
    assert.throws(() => readKeyFile(path), /secret\.key has the mode 06.*chmod 600/);
  }
  chmodSync(key, 0o600);
  chmodSync(path, 0o777);
  assert.throws(() => prepareDataDirectory(path), /has the mode 0777.*chmod o-w/);
  chmodSync(path, 0o770);
  prepareDataDirectory(path);
});

test('only the owner may open the lock', (t) => {
  const path = makeTempDir(t);
  const unlock = lockDataDirectory(path);
  assert.equal(statSync(join(path, 'hub.lock')).mode & 0o777, 0o600);
  unlock();
});

test('refuses a network file system and names it', (t) => {
  const nfs = 0x6969;
  assert.throws(
    () => prepareDataDirectory(makeTempDir(t), { typeOfFileSystem: () => nfs }),
    /network file system \(NFS\)/,
  );
});

test('accepts a network file system when the database is elsewhere', (t) => {
  const use = { holdsDatabase: false, typeOfFileSystem: () => 0x6969 };
  assert.ok(prepareDataDirectory(makeTempDir(t), use).directoryId);
});

test('refuses a truncated key file and does not replace it', (t) => {
  const path = makeTempDir(t);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'secret.key'), 'c2hvcnQ=\n', { mode: 0o600 });
  assert.throws(() => readKeyFile(path), /key file/);
  assert.equal(readFileSync(join(path, 'secret.key'), 'utf8'), 'c2hvcnQ=\n');
});

test('one hub at a time may use the directory', (t) => {
  const path = makeTempDir(t);
  const release = lockDataDirectory(path);
  assert.throws(() => lockDataDirectory(path), /Another hub is running/);
  release();
  lockDataDirectory(path)();
});

test('a check for a running hub finds the lock, and leaves it as it was', (t) => {
  const path = makeTempDir(t);
  assert.equal(isDataDirectoryLocked(path), false);
  const release = lockDataDirectory(path);
  assert.equal(isDataDirectoryLocked(path), true);
  assert.throws(() => lockDataDirectory(path), /Another hub is running/);
  release();
  assert.equal(isDataDirectoryLocked(path), false);
});

test('of hubs that start at once one gets the directory, while commands check the lock', async (t) => {
  const path = makeTempDir(t);
  const starts = await Promise.all([1, 2, 3, 4].map(() => prepareStart(t, path)));
  const answers = Promise.all(starts.map((start) => start()));
  let pending = true;
  void answers.finally(() => {
    pending = false;
  });
  while (pending) {
    isDataDirectoryLocked(path);
    await new Promise(setImmediate);
  }
  assert.deepEqual((await answers).sort(), ['locked', 'refused', 'refused', 'refused']);
  assert.equal(isDataDirectoryLocked(path), true);
});

/** A process that locks the directory when asked to and keeps the lock until the test ends. */
async function prepareStart(t: TestContext, path: string): Promise<() => Promise<string>> {
  const module = JSON.stringify(new URL('../../src/db/data-directory.ts', import.meta.url).href);
  const script = `
    import { lockDataDirectory, StartError } from ${module};
    process.stdin.once('data', () => {
      try {
        globalThis.release = lockDataDirectory(${JSON.stringify(path)});
        console.log('locked');
      } catch (error) {
        console.log(error instanceof StartError ? 'refused' : String(error));
      }
    });
    console.log('ready');`;
  const args = [...process.execArgv, '--input-type=module', '--eval', script];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, 'ready');
  return async () => {
    child.stdin.write('start\n');
    return (await lines.next()).value ?? 'ended';
  };
}
