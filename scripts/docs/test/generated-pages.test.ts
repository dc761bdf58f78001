import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { settings } from '@signalbox/hub';
import { generatedPages } from '../generated-pages.ts';
import { reservedSettings } from '../settings-page.ts';

const root = join(import.meta.dirname, '../../..');

for (const { path, write } of generatedPages) {
  test(`${path} is what npm run docs writes`, () => {
    assert.equal(readFileSync(join(root, path), 'utf8'), write(), 'run: npm run docs');
  });
}

test('no existing setting is listed as reserved', () => {
  const available = Object.values(settings).map(({ env }): string => env);
  const early = reservedSettings.filter(([name]) => {
    const [prefix = '', ...rest] = name.split('*');
    return available.some((env) => (rest.length > 0 ? env.startsWith(prefix) : env === name));
  });
  assert.deepEqual(early, []);
});
