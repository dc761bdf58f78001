import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { attacksOnRows } from './hostile-attacks.ts';
import { testHostileTool } from './hostile-tests.ts';

const page = join(import.meta.dirname, '../../../docs/operate/security.md');

test('each row of the table of what is believed of a tool has an attack', () => {
  const [, section = ''] = readFileSync(page, 'utf8').split('## What is believed of a tool');
  const [table = ''] = section.split('\n## ');
  const rows = table.split('\n').filter((line) => /^\| .* \| (hub|agent) \|$/.test(line));
  const lines = table.split('\n').filter((line) => line.startsWith('|'));
  assert.equal(rows.length, lines.length - 2, 'all but the head of the table are rows');
  const keys = Object.keys(attacksOnRows);
  const found = rows.map((row) => keys.find((key) => row.startsWith(`| ${key}`)) ?? row);
  assert.deepEqual(found, keys);
  for (const [row, tries] of Object.entries(attacksOnRows)) {
    assert.ok(Object.keys(tries).length > 0, `${row} has no attack`);
  }
});

testHostileTool('a command');
