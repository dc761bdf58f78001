import type { TSchema } from 'typebox';

/** Puts raw text where JSON.stringify would put a value of its own. */
const RAW = '\uE000raw:';

export const raw = (text: string) => `${RAW}${text}`;

/** JSON text, with what `raw` marks spelt as it is. */
export function spell(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.replaceAll(new RegExp(`"${RAW}((?:[^"\\\\]|\\\\.)*)"`, 'g'), (_, inner: string) =>
    String(JSON.parse(`"${inner}"`)),
  );
}

export function nest(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

/** Values that have broken somebody's parser, validator, query or log before. */
export const hostileValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  0.1,
  1e308,
  2 ** 53,
  raw('9007199254740993'),
  raw('1e400'),
  raw('-1e400'),
  raw('1E-400'),
  raw('00'),
  raw('NaN'),
  raw('0x10'),
  raw('"\\ud800"'),
  raw('"\\u0000"'),
  raw('"a\\u0000b"'),
  raw('{"a":1,"a":2}'),
  raw('{"__proto__":{"admin":true}}'),
  raw('{"constructor":{"prototype":{}}}'),
  raw(nest(30)),
  raw(nest(40)),
  raw(nest(10_000)),
  '',
  ' ',
  '\u202Eevil\u200B',
  '😀'.repeat(50),
  '\u001b]0;title\u0007',
  "' OR 1=1 --",
  '%',
  '_%\\',
  '$where',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  'x'.repeat(201),
  'x'.repeat(10_001),
  'x'.repeat(100_000),
  'toString',
  '__proto__',
  [],
  [null],
  [[]],
  Array(2_000).fill('x'),
  Array(10_001).fill({}),
  {},
  { toString: 1, valueOf: null, hasOwnProperty: 'x', length: -1 },
  { '': '', '\n': 1, ключ: 2 },
  { toJSON: 'x' },
];

/** Bounds of a schema and the values just beyond them. */
export function boundaryValues(schema: TSchema): unknown[] {
  const {
    minimum,
    maximum,
    minLength,
    maxLength,
    maxItems,
    enum: values,
  } = schema as {
    minimum?: number;
    maximum?: number;
    minLength?: number;
    maxLength?: number;
    maxItems?: number;
    enum?: string[];
  };
  const found: unknown[] = [...(values ?? [])];
  if (minimum !== undefined) found.push(minimum - 1, minimum, minimum + 0.5);
  if (maximum !== undefined) found.push(maximum, maximum + 1);
  if (minLength !== undefined) found.push('x'.repeat(Math.max(0, minLength - 1)));
  if (maxLength !== undefined && maxLength < 20_000) {
    found.push('x'.repeat(maxLength), 'x'.repeat(maxLength + 1), '😀'.repeat(maxLength / 2));
  }
  if (maxItems !== undefined) found.push(Array(maxItems).fill('x'), Array(maxItems + 1).fill('x'));
  return found;
}

/** A field of a request, by the way to it. */
export interface FieldPlace {
  path: readonly string[];
  schema: TSchema;
}

/** Every field of an object's schema, nested ones too. */
export function listFields(schema: TSchema, path: readonly string[] = []): FieldPlace[] {
  const { properties } = schema as { properties?: Record<string, TSchema> };
  return Object.entries(properties ?? {}).flatMap(([name, field]) => [
    { path: [...path, name], schema: field },
    ...listFields(field, [...path, name]),
  ]);
}

/** Copies the body with one field set, at any depth. */
export function withField(
  body: Record<string, unknown>,
  path: readonly string[],
  value: unknown,
): Record<string, unknown> {
  const [name = '', ...rest] = path;
  const inner = body[name];
  const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  const next = isObject ? (inner as Record<string, unknown>) : {};
  return { ...body, [name]: rest.length === 0 ? value : withField(next, rest, value) };
}
