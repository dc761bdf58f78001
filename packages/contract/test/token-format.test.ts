import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 as nodeCrc32 } from 'node:zlib';
import {
  formatToken,
  parseToken,
  redactTokens,
  TOKEN_CHARS,
  type TokenKind,
  tokenPrefixes,
} from '@signalbox/contract';
import fc from 'fast-check';
// The package does not export the checksum; its standard vector is tested all the same.
import { crc32 } from '../src/crc32.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const kinds: TokenKind[] = ['device', 'service', 'job'];
const kind = fc.constantFrom(...kinds);
const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

test('the checksum of 123456789 is cbf43926', () => {
  assert.equal(crc32('123456789', 9).toString(16), 'cbf43926');
});

test('the checksum equals that of zlib for any ASCII text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
      assert.equal(crc32(text, text.length), nodeCrc32(text));
    }),
  );
});

test('known bytes give known tokens', () => {
  assert.equal(
    formatToken('device', new Uint8Array(32)),
    'sbx_d_00000000000000000000000000000000000000000000ABQhW',
  );
  assert.equal(
    formatToken('service', new Uint8Array(32).fill(255)),
    'sbx_s_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp11IJAcU',
  );
  assert.equal(
    formatToken(
      'job',
      Uint8Array.from({ length: 32 }, (_, i) => i),
    ),
    'sbx_j_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf1I3hAt',
  );
});

test('a token has 55 characters, its prefix, and parses to its kind', () => {
  assert.equal(TOKEN_CHARS, 55);
  fc.assert(
    fc.property(kind, bytes, (of, random) => {
      const token = formatToken(of, random);
      assert.match(token, /^sbx_[dsj]_[0-9A-Za-z]{49}$/);
      assert.ok(token.startsWith(tokenPrefixes[of]));
      assert.deepEqual(parseToken(token), { kind: of });
    }),
  );
});

test('different bytes give different tokens', () => {
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      const same = Buffer.from(one).equals(other);
      assert.equal(formatToken('device', one) === formatToken('device', other), same);
    }),
  );
});

test('a token with one changed character is rejected', () => {
  const token = formatToken(
    'device',
    Uint8Array.from({ length: 32 }, (_, i) => i * 7),
  );
  let changed = 0;
  for (let at = 0; at < token.length; at++) {
    for (const char of `${BASE62}_-. é€`) {
      if (char === token[at]) continue;
      assert.equal(parseToken(token.slice(0, at) + char + token.slice(at + 1)), null);
      changed++;
    }
  }
  assert.ok(changed > 3_000);
});

test('a character with the same low byte as the right one is rejected', () => {
  const token = formatToken(
    'job',
    Uint8Array.from({ length: 32 }, (_, i) => i * 5),
  );
  for (let at = 0; at < token.length; at++) {
    const alias = String.fromCharCode(token.charCodeAt(at) + 0x100);
    assert.equal(parseToken(token.slice(0, at) + alias + token.slice(at + 1)), null);
  }
});

test('a token with two swapped characters is rejected', () => {
  fc.assert(
    fc.property(kind, bytes, fc.integer({ min: 0, max: 53 }), (of, random, at) => {
      const chars = [...formatToken(of, random)];
      fc.pre(chars[at] !== chars[at + 1]);
      [chars[at], chars[at + 1]] = [chars[at + 1]!, chars[at]!];
      assert.equal(parseToken(chars.join('')), null);
    }),
  );
});

test('other text is rejected', () => {
  const token = formatToken('device', new Uint8Array(32));
  const others = ['', 'sbx_d_', `${token}0`, token.slice(0, -1), ` ${token}`, `${token}\n`];
  others.push(token.replace('sbx', 'SBX'), token.replace('_d_', '_x_'), 'x'.repeat(TOKEN_CHARS));
  for (const text of others) assert.equal(parseToken(text), null, text);
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => parseToken(text) === null));
});

test('formatting needs exactly 32 bytes', () => {
  for (const length of [0, 31, 33]) {
    assert.throws(() => formatToken('job', new Uint8Array(length)), RangeError);
  }
});

test('redaction leaves only the kind of every token in a text', () => {
  fc.assert(
    fc.property(kind, bytes, fc.string(), fc.string(), (of, random, before, after) => {
      const token = formatToken(of, random);
      const redacted = redactTokens(`${before} ${token},${after} ${token}`);
      assert.ok(redacted.includes(`${tokenPrefixes[of]}…`));
      assert.ok(!redacted.includes(token.slice(6, 30)));
    }),
  );
});

test('redaction finds tokens that are truncated, mistyped or attached to a word', () => {
  const token = formatToken('service', new Uint8Array(32).fill(9));
  assert.equal(redactTokens(`x=${token.slice(0, 40)}`), 'x=sbx_s_…');
  assert.equal(redactTokens(`Bearer${token}tail`), 'Bearersbx_s_…');
  assert.equal(redactTokens(`${token} and ${token}`), 'sbx_s_… and sbx_s_…');
});

test('redaction does not change other text', () => {
  const text = 'sbx_d_… is a device token; sbx_d_short and sbx_x_0123456789012345678901 are not.';
  assert.equal(redactTokens(text), text);
});
