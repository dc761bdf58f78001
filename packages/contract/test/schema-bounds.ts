/** A schema as plain JSON. */
type Schema = Record<string, unknown>;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBounded(schema: Schema): boolean {
  if ('enum' in schema || 'const' in schema) return true;
  if (schema.type === 'string') return 'maxLength' in schema;
  if (schema.type === 'array') return 'maxItems' in schema && 'items' in schema;
  return true;
}

/** Lists sub-schemas with the path to which they apply. */
function* listParts(schema: Schema, path: string): Generator<[string, unknown]> {
  for (const [name, part] of Object.entries((schema.properties ?? {}) as Schema)) {
    yield [`${path}/${name}`, part];
  }
  for (const keyword of ['anyOf', 'allOf', 'oneOf']) {
    for (const part of (schema[keyword] ?? []) as unknown[]) yield [path, part];
  }
  yield [`${path}/*`, schema.items];
  yield [`${path}/*`, schema.additionalProperties];
}

/**
 * Lists where a schema allows a string or an array without a maximum, or a map without a maximum of
 * keys, and where it rejects unknown fields.
 */
export function findUnbounded(schema: unknown, path = ''): string[] {
  if (!isSchema(schema)) return [];
  const found = isBounded(schema) ? [] : [`${path} has no maximum`];
  if (schema.additionalProperties === false) found.push(`${path} refuses unknown fields`);
  if (isSchema(schema.additionalProperties) && !('maxProperties' in schema)) {
    found.push(`${path} has no maximum of fields`);
  }
  for (const [partPath, part] of listParts(schema, path)) {
    found.push(...findUnbounded(part, partPath));
  }
  return found;
}
