import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listFiles } from '../../check/source-files.ts';
import { consoleIcons, iconShapesPath, writeIconShapes } from '../console-icons.ts';

const root = join(import.meta.dirname, '../../..');

test('the icons of the console are what npm run icons writes', () => {
  const source = readFileSync(join(root, iconShapesPath), 'utf8');
  assert.equal(source, writeIconShapes(root), 'run: npm run icons');
});

test('the console uses every icon that its users load', () => {
  const files = listFiles(root, 'packages/console/src', ['.ts', '.tsx']);
  const source = files
    .filter((file) => file !== iconShapesPath)
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
  const unused = consoleIcons.filter((name) => !new RegExp(`["']${name}["']`).test(source));
  assert.deepEqual(unused, [], 'delete these from the list of scripts/build/console-icons.ts');
});
