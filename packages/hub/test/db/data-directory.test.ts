import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  lockDataDirectory,
  prepareDataDirectory,
  StartError,
} from '../../src/db/data-directory.ts';
import { makeTempDir } from '../support/temp-dir.ts';

test('creates the directory and a key that only the owner may read, and uses both again', (t) => {
  const path = join(makeTempDir(t), 'deep', 'data');
  const first = prepareDataDirectory(path);
  assert.equal(first.secretKey.length, 32);
  assert.equal(statSync(join(path, 'secret.key')).mode & 0o777, 0o600);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.deepEqual(prepareDataDirectory(path), first);
});

test('refuses a path that is a file', (t) => {
  const path = join(makeTempDir(t), 'file');
  writeFileSync(path, '');
  assert.throws(() => prepareDataDirectory(path), StartError);
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

test('creates no key when one is set', (t) => {
  const path = makeTempDir(t);
  const secretKey = Buffer.alloc(32, 7);
  assert.deepEqual(prepareDataDirectory(path, { secretKey }).secretKey, secretKey);
  assert.equal(existsSync(join(path, 'secret.key')), false);
});

test('refuses a truncated key file and does not replace it', (t) => {
  const path = makeTempDir(t);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'secret.key'), 'c2hvcnQ=\n');
  assert.throws(() => prepareDataDirectory(path), /key file/);
  assert.equal(readFileSync(join(path, 'secret.key'), 'utf8'), 'c2hvcnQ=\n');
});

test('one hub at a time may use the directory', (t) => {
  const path = makeTempDir(t);
  const release = lockDataDirectory(path);
  assert.throws(() => lockDataDirectory(path), /Another hub is running/);
  release();
  lockDataDirectory(path)();
});
