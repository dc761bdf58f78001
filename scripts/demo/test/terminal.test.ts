import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTerminal } from '../terminal.ts';

test('output is divided at words, and a word that is longer than the line stays whole', () => {
  const shown = (columns: number | undefined, line: string) => {
    const lines: string[] = [];
    createTerminal({ write: (text) => lines.push(text), columns }).sayOutput(line);
    return lines.join('');
  };
  const long = 'c'.repeat(40);
  assert.equal(shown(20, 'one two three four five'), '  one two three four\n      five\n');
  assert.equal(shown(20, long), `  ${long}\n`);
  assert.equal(shown(20, `commit ${long}`), `  commit\n      ${long}\n`);
  for (const columns of [0, undefined]) {
    assert.equal(shown(columns, 'one two three four five'), '  one two three four five\n');
  }
});
