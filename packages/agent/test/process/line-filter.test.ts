import assert from 'node:assert/strict';
import test from 'node:test';
import { createLineFilter } from '../../src/process/line-filter.ts';

const noise = /^\[session\/\w+\] /;

test('lines that match are left out, in pieces of any size', () => {
  const text = 'a\n[session/create] phase=a\n\nb [session/query] b\n[session/query] c';
  for (let size = 1; size <= text.length; size++) {
    const filter = createLineFilter(noise);
    let seen = '';
    for (let at = 0; at < text.length; at += size) seen += filter(text.slice(at, at + size));
    assert.equal(seen + filter('', true), 'a\n\nb [session/query] b\n', `pieces of ${size}`);
  }
});

test('the last line is kept, also without its end', () => {
  const filter = createLineFilter(noise);
  assert.equal(filter('first\nlast'), 'first\n');
  assert.equal(filter('', true), 'last');
  assert.equal(createLineFilter(undefined)('as it is'), 'as it is');
});

test('what continues a line is left out, or kept, with it', () => {
  const filter = createLineFilter(noise);
  const lines = ['[session/new] Error: x', '    at y (z.js:1:2) {', "  code: 'z'", '}', 'kept'];
  assert.equal(filter(`${lines.join('\n')}\n  too\n`), 'kept\n  too\n');
});
