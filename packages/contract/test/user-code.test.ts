import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatUserCode,
  normalizeUserCode,
  USER_CODE_ALPHABET,
  USER_CODE_CHARS,
} from '@signalbox/contract';
import fc from 'fast-check';

const letters = fc
  .array(fc.constantFrom(...USER_CODE_ALPHABET), { minLength: 8, maxLength: 8 })
  .map((all) => all.join(''));

test('the alphabet has the twenty letters of protocol.md, section 2.4', () => {
  assert.equal(USER_CODE_ALPHABET, 'BCDFGHJKLMNPQRSTVWXZ');
  assert.equal(new Set(USER_CODE_ALPHABET).size, 20);
  assert.equal(USER_CODE_CHARS, 8);
});

test('a code is shown in two halves and read back', () => {
  assert.equal(formatUserCode('WDJBMJHT'), 'WDJB-MJHT');
  fc.assert(
    fc.property(letters, (code) => {
      assert.match(formatUserCode(code), /^[A-Z]{4}-[A-Z]{4}$/);
      assert.equal(normalizeUserCode(formatUserCode(code)), code);
    }),
  );
});

test('case, dashes and spaces are ignored', () => {
  for (const text of [
    'wdjb-mjht',
    ' WDJB MJHT\n',
    'WdJb–MjHt',
    'w-d-j-b-m-j-h-t',
    'WDJB\u00a0MJHT',
  ]) {
    assert.equal(normalizeUserCode(text), 'WDJBMJHT', text);
  }
});

test('other text is null and cannot be formatted', () => {
  for (const text of [
    '',
    'WDJBMJH',
    'WDJBMJHTB',
    'WDJB-MJHA',
    'WDJB_MJHT',
    '12345678',
    'WDJBMJHß',
  ]) {
    assert.equal(normalizeUserCode(text), null, text);
    assert.throws(() => formatUserCode(text), RangeError);
  }
});
