import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJsonBody } from '../../src/http/json-body.ts';

const parse = (text: string) => parseJsonBody(Buffer.from(text, 'utf8'));

test('parses what JSON.parse parses', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      fc.pre(!/__proto__|constructor|prototype/.test(text));
      assert.deepEqual(parse(text), JSON.parse(text));
    }),
  );
});

test('an empty body is an empty object', () => {
  assert.deepEqual(parseJsonBody(new Uint8Array()), {});
});

const refused: [name: string, body: string | Uint8Array][] = [
  ['no JSON at all', 'hello'],
  ['a trailing comma', '{"a":1,}'],
  ['an unfinished string', '{"a":"b'],
  ['an unfinished object', '{"a":1'],
  ['a second value', '{} {}'],
  ['a duplicate key', '{"a":1,"a":2}'],
  ['a duplicate key in a nested object', '{"x":[{"a":1,"b":{},"a":2}]}'],
  ['a duplicate key written with an escape', '{"a":1,"\\u0061":2}'],
  ['__proto__', '{"__proto__":{}}'],
  ['constructor, nested', '{"a":{"constructor":1}}'],
  ['prototype written with an escape', '{"\\u0070rototype":1}'],
  ['33 levels of arrays', '['.repeat(33) + ']'.repeat(33)],
  ['10,000 levels', '['.repeat(10_000) + ']'.repeat(10_000)],
  ['33 levels of objects', `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`],
  ['a raw control character', '{"a":"\u0001"}'],
  ['bad UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['UTF-8 of a surrogate', new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
];

for (const [name, body] of refused) {
  test(`refuses ${name} as INVALID_JSON`, () => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    assert.throws(() => parseJsonBody(bytes), { code: 'INVALID_JSON' });
  });
}

const accepted: [name: string, body: string][] = [
  ['equal keys in different objects', '[{"a":1},{"a":2},{"a":{"a":3}}]'],
  ['equal strings in an array', '["a","a"]'],
  ['a value that equals its key', '{"a":"a","b":"a"}'],
  ['32 levels', '['.repeat(32) + ']'.repeat(32)],
  ['strings that contain braces, colons and quotes', '{"a":"{\\"a\\":1,\\"a\\":2}","b":"\\\\"}'],
  ['a key that ends in a backslash', '{"a\\\\":1,"b":2}'],
  ['a pair of surrogates', '{"a":"\\ud83d\\ude00"}'],
];

for (const [name, body] of accepted) {
  test(`accepts ${name}`, () => {
    assert.deepEqual(parse(body), JSON.parse(body));
  });
}

for (const [name, body, path] of [
  ['NUL', '{"a":{"b":["\\u0000"]}}', '/a/b/0'],
  ['a lone surrogate', '{"a":"\\ud800"}', '/a'],
  ['NUL in a key', '{"a\\u0000":1}', '/a\0'],
] as const) {
  test(`refuses ${name} in a string as INVALID_REQUEST with its path`, () => {
    assert.throws(
      () => parse(body),
      (error: { code?: string; details?: { path: string }[] }) => {
        assert.equal(error.code, 'INVALID_REQUEST');
        assert.equal(error.details?.[0]?.path, path);
        return true;
      },
    );
  });
}
