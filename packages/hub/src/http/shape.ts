import type { TSchema } from 'typebox';

/** What of a schema matters where a value is filled in or looked through, read from it once. */
export interface Shape {
  /** Every field by its name; null: nothing in it is looked at. */
  fields: ReadonlyMap<string, Shape | null>;
  /** Fields that are filled in where they are absent, each time with a value of its own. */
  defaults: readonly (readonly [name: string, make: () => unknown])[];
  /** Fields in which something may have to be filled in. */
  withDefaults: readonly (readonly [name: string, shape: Shape])[];
  /** Of a list of objects; null: not such a list. */
  items: Shape | null;
  /** Whether fields that it does not name belong to it all the same. */
  keepsUnknown: boolean;
}

type SchemaNode = TSchema & {
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  default?: unknown;
  additionalProperties?: unknown;
};

export function readShape(schema: SchemaNode): Shape {
  const { properties, items } = schema;
  const fields = new Map<string, Shape | null>();
  const defaults: [string, () => unknown][] = [];
  const withDefaults: [string, Shape][] = [];
  for (const [name, field] of Object.entries(properties ?? {})) {
    const isLookedInto = field.properties !== undefined || field.items?.properties !== undefined;
    const shape = isLookedInto ? readShape(field) : null;
    fields.set(name, shape);
    if (field.default !== undefined) defaults.push([name, makerOf(field.default)]);
    if (shape !== null && hasDefaults(shape)) withDefaults.push([name, shape]);
  }
  return {
    fields,
    defaults,
    withDefaults,
    items: items?.properties === undefined ? null : readShape(items),
    keepsUnknown: properties === undefined || schema.additionalProperties !== undefined,
  };
}

function hasDefaults({ defaults, withDefaults, items }: Shape): boolean {
  return defaults.length + withDefaults.length > 0 || (items !== null && hasDefaults(items));
}

/** Nearly all defaults are plain values or an empty list, for which a real clone is slow. */
function makerOf(value: unknown): () => unknown {
  if (typeof value !== 'object' || value === null) return () => value;
  if (Array.isArray(value) && value.length === 0) return () => [];
  return () => structuredClone(value);
}
