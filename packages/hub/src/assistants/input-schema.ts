import type { Endpoint } from '@signalbox/contract';

/** A JSON Schema, as in the contract and for a model. */
export interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  [keyword: string]: unknown;
}

/** Enough to form a call. The hub itself checks lengths, ranges and patterns. */
const keptKeywords = ['type', 'enum', 'format', 'const', 'minItems'] as const;
/** Enough for a sentence. The whole list is in the context of every call of a model. */
const DESCRIPTION_CHARS_MAX = 150;

/** The field that the token answers. */
const FIELD_OF_TOKEN = 'workspaceId';

/**
 * The input of a tool that calls a row: every field of the row but the workspace, with short
 * descriptions.
 */
export function inputSchemaOf(row: Endpoint): JsonSchema & { type: 'object' } {
  // TypeBox schemas are JSON Schema.
  const { properties = {}, required = [] } = shorten(row.request as unknown as JsonSchema);
  const { [FIELD_OF_TOKEN]: _workspace, ...fields } = properties;
  const needed = required.filter((name) => name !== FIELD_OF_TOKEN);
  return {
    type: 'object',
    properties: fields,
    ...(needed.length > 0 ? { required: needed } : {}),
    additionalProperties: false,
  };
}

function shorten(schema: JsonSchema): JsonSchema {
  const short: JsonSchema = {};
  for (const keyword of keptKeywords) {
    if (keyword in schema) short[keyword] = schema[keyword];
  }
  const { description, properties, required, items, anyOf } = schema;
  const words = typeof description === 'string' ? shortenDescription(description) : '';
  if (words !== '') short.description = words;
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, field]) => [name, shorten(field)]);
    short.properties = Object.fromEntries(fields);
  }
  if (required !== undefined) short.required = required;
  if (items !== undefined) short.items = shorten(items);
  if (anyOf !== undefined) short.anyOf = anyOf.map(shorten);
  return short;
}

/** The first sentence, if it is short and says more than the name of the field. */
function shortenDescription(text: string): string {
  const sentence = /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;
  const isIdOfKind = /^Id of an? /.test(sentence);
  return isIdOfKind || sentence.length > DESCRIPTION_CHARS_MAX ? '' : sentence;
}
