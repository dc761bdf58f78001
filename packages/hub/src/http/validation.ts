import type { ErrorDetail } from '@signalbox/contract';
import type { Static, TObject, TSchema } from 'typebox';
import { compileLater } from '../base/compile-later.ts';
import { HubError } from '../base/errors.ts';

/** Enough to correct a request; the answer to a hostile one must stay short. */
const DETAILS_MAX = 20;
const IGNORED_FIELDS_MAX = 20;

export interface RequestValidator<R extends TObject> {
  /**
   * Fills in the defaults of absent fields, then checks the body against the schema.
   * @throws HubError INVALID_REQUEST with details.
   */
  validate(body: unknown): Static<R>;
  /** Paths of fields that the schema does not know, such as `evidence.comitSha`. */
  findIgnored(body: unknown): string[];
}

export function createRequestValidator<R extends TObject>(schema: R): RequestValidator<R> {
  // Compiled at the first request: compiling a hundred schemas would slow every start.
  const compiled = compileLater(schema);
  const acceptsAnyObject = Object.keys(schema.properties).length === 0;
  let fields: SchemaFields | null = null;
  return {
    validate(body) {
      // Checks of health need no compiler.
      if (acceptsAnyObject && isObject(body)) return body as Static<R>;
      fields ??= readFields(schema);
      fillDefaults(body, fields);
      const validator = compiled();
      if (validator.Check(body)) return body;
      const details = describeErrors(validator.Errors(body));
      const first = details[0];
      const message =
        first === undefined
          ? 'The request does not match its schema.'
          : `${first.path.slice(1).replaceAll('/', '.') || 'The body'} ${first.message}.`;
      throw new HubError('INVALID_REQUEST', message, { details });
    },
    findIgnored(body) {
      fields ??= readFields(schema);
      const found: string[] = [];
      collectIgnored(body, fields, '', found);
      return found;
    },
  };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fillDefaults(value: unknown, schema: SchemaFields): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (schema.items === null) return;
    for (const item of value) fillDefaults(item, schema.items);
    return;
  }
  const members = value as Record<string, unknown>;
  for (const [name, nested] of schema.withDefaults) fillDefaults(members[name], nested);
  for (const [name, make] of schema.defaults) {
    if (members[name] === undefined) members[name] = make();
  }
}

interface SchemaError {
  keyword: string;
  instancePath: string;
  schemaPath: string;
  params: object;
  message: string;
}

function describeErrors(errors: readonly SchemaError[]): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  for (const error of errors) {
    // Each branch of a union reports errors of its own; the error of the union is enough.
    if (/\/anyOf\/\d+/.test(error.schemaPath)) continue;
    if (error.keyword === 'required') {
      const { requiredProperties } = error.params as { requiredProperties: string[] };
      for (const name of requiredProperties) {
        details.push({ path: `${error.instancePath}/${name}`, message: 'is required' });
      }
    } else {
      details.push({ path: error.instancePath, message: messageOf(error) });
    }
  }
  return details.slice(0, DETAILS_MAX);
}

function messageOf(error: SchemaError): string {
  if (error.keyword === 'enum') {
    const { allowedValues } = error.params as { allowedValues?: unknown[] };
    if (allowedValues !== undefined) return `must be one of ${allowedValues.join(', ')}`;
  }
  return error.keyword === 'anyOf' ? 'must have one of the allowed forms' : error.message;
}

function collectIgnored(value: unknown, schema: SchemaFields, path: string, found: string[]): void {
  if (found.length >= IGNORED_FIELDS_MAX || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (schema.items === null) return;
    for (const item of value) collectIgnored(item, schema.items, path, found);
    return;
  }
  if (schema.keepsUnknown) return;
  const members = value as Record<string, unknown>;
  // Objects of JSON.parse have no inherited members.
  for (const name in members) {
    const field = schema.fields.get(name);
    if (field === null) continue;
    const fieldPath = path === '' ? name : `${path}.${name}`;
    if (field !== undefined) collectIgnored(members[name], field, fieldPath, found);
    else if (!found.includes(fieldPath) && found.length < IGNORED_FIELDS_MAX) found.push(fieldPath);
  }
}

/** The fields of a schema, read once for filling in defaults and finding unknown fields. */
interface SchemaFields {
  /** Every field by name; null: its value is not looked into. */
  fields: ReadonlyMap<string, SchemaFields | null>;
  /** Fields that are filled in when absent, each time with a new value. */
  defaults: readonly (readonly [name: string, make: () => unknown])[];
  /** Fields whose values may have absent fields to fill in. */
  withDefaults: readonly (readonly [name: string, fields: SchemaFields])[];
  /** The fields of the items of a list; null: the schema is no list of objects. */
  items: SchemaFields | null;
  /** Whether fields that the schema does not name are allowed. */
  keepsUnknown: boolean;
}

type SchemaNode = TSchema & {
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  default?: unknown;
  additionalProperties?: unknown;
};

function readFields(schema: SchemaNode): SchemaFields {
  const { properties, items } = schema;
  const fields = new Map<string, SchemaFields | null>();
  const defaults: [string, () => unknown][] = [];
  const withDefaults: [string, SchemaFields][] = [];
  for (const [name, field] of Object.entries(properties ?? {})) {
    const isLookedInto = field.properties !== undefined || field.items?.properties !== undefined;
    const nested = isLookedInto ? readFields(field) : null;
    fields.set(name, nested);
    if (field.default !== undefined) defaults.push([name, makerOf(field.default)]);
    if (nested !== null && hasDefaults(nested)) withDefaults.push([name, nested]);
  }
  return {
    fields,
    defaults,
    withDefaults,
    items: items?.properties === undefined ? null : readFields(items),
    keepsUnknown: properties === undefined || schema.additionalProperties !== undefined,
  };
}

function hasDefaults({ defaults, withDefaults, items }: SchemaFields): boolean {
  return defaults.length + withDefaults.length > 0 || (items !== null && hasDefaults(items));
}

/** Nearly all defaults are primitive values or an empty list; a real clone would be slow. */
function makerOf(value: unknown): () => unknown {
  if (typeof value !== 'object' || value === null) return () => value;
  if (Array.isArray(value) && value.length === 0) return () => [];
  return () => structuredClone(value);
}
