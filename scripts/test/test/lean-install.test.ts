import assert from 'node:assert/strict';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../../..');
/** Limit of what `npm start` installs, without Node. */
const SIZE_MB_MAX = 216;
/** How many packages the message of the test names, largest first. */
const NAMED_MAX = 8;
const nodePackage = /^node_modules\/node-(bin-)?(darwin|linux|win)-/;

interface LockEntry {
  dev?: boolean;
  link?: boolean;
}

test(`npm start installs at most ${SIZE_MB_MAX} MB beside Node itself`, (context) => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const entries = Object.entries(lock.packages as Record<string, LockEntry>);
  const needed = entries.filter(([path, { dev, link }]) => {
    return path.includes('node_modules/') && !dev && !link && !nodePackage.test(path);
  });
  const folders = needed.map(([path]) => join(root, path)).filter((path) => existsSync(path));
  assert.ok(folders.length > 100, 'the packages of a hub are installed');
  const sizes = folders.map((folder) => ({ folder, sizeMb: sizeBytesOf(folder) / 2 ** 20 }));
  const sizeMb = sizes.reduce((sum, size) => sum + size.sizeMb, 0);
  const largest = sizes
    .sort((one, other) => other.sizeMb - one.sizeMb)
    .slice(0, NAMED_MAX)
    .map((size) => `${relative(root, size.folder)} ${size.sizeMb.toFixed(0)} MB`);
  const text = `${sizeMb.toFixed(0)} MB, most of it ${largest.join(', ')}`;
  context.diagnostic(text);
  assert.ok(sizeMb <= SIZE_MB_MAX, `${text}: find what should be for tests only`);
});

/** Space on disk of one package, without the packages below it, which the lock lists too. */
function sizeBytesOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .reduce((sum, entry) => {
      const path = join(folder, entry.name);
      const { blocks } = lstatSync(path);
      return sum + blocks * 512 + (entry.isDirectory() ? sizeBytesOf(path) : 0);
    }, 0);
}
