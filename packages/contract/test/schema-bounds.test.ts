import assert from 'node:assert/strict';
import { it } from 'node:test';
import Type from 'typebox';
import { findUnbounded } from './schema-bounds.ts';

it('finds values without a maximum at any depth, and objects that reject unknown fields', () => {
  const schema = Type.Object({
    bounded: Type.String({ maxLength: 1 }),
    list: Type.Array(Type.Union([Type.String(), Type.Null()]), { maxItems: 1 }),
    endless: Type.Array(Type.Integer()),
    map: Type.Unsafe({ type: 'object', additionalProperties: { type: 'string', maxLength: 1 } }),
    closed: Type.Object({}, { additionalProperties: false }),
  });
  assert.deepEqual(findUnbounded(schema), [
    '/list/* has no maximum',
    '/endless has no maximum',
    '/map has no maximum of fields',
    '/closed refuses unknown fields',
  ]);
});
