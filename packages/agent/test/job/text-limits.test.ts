import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastLinesOf } from '../../src/job/text-limits.ts';

test('the last lines of a text begin at a line, or at a word, and say that more comes before', () => {
  assert.equal(lastLinesOf('all of it', 20), 'all of it');
  assert.equal(lastLinesOf('first line\nsecond line\nthird', 14), '…\nthird');
  assert.equal(lastLinesOf('first\nsecond line\nthird', 22), '…\nsecond line\nthird');
  assert.equal(lastLinesOf('one two three four five six', 16), '…\nfour five six');
  assert.equal(lastLinesOf('x'.repeat(50), 10), `…${'x'.repeat(8)}`);
});
