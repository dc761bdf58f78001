import type { ErrorDetail } from '@signalbox/contract';
import type { Static, TObject, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { HubError } from '../errors.ts';

/** Enough to mend a request by; a hostile one must not be answered at length. */
const DETAILS_MAX = 20;
const IGNORED_FIELDS_MAX = 20;

type SchemaNode = TSchema & {
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  default?: unknown;
  additionalProperties?: unknown;
};

export interface RequestValidator<R extends TObject> {
  /**
   * Fills in defaults and checks.
   * @throws HubError INVALID_REQUEST with details.
   */
  validate(body: unknown): Static<R>;
  /** Paths of fields that the schema does not know, such as `evidence.comitSha`. */
  findIgnored(body: unknown): string[];
}

export function createRequestValidator<R extends TObject>(schema: R): RequestValidator<R> {
  // Compiled at the first request: compiling a hundred schemas would slow every start.
  let compiled: Validator<Record<never, never>, R> | null = null;
  return {
    validate(body) {
      compiled ??= Compile(schema);
      fillDefaults(body, schema);
      if (compiled.Check(body)) return body;
      const details = describeErrors(compiled.Errors(body));
      const first = details[0];
      const message =
        first === undefined
          ? 'The request does not match its schema.'
          : `${first.path.slice(1).replaceAll('/', '.') || 'The body'} ${first.message}.`;
      throw new HubError('INVALID_REQUEST', message, { details });
    },
    findIgnored(body) {
      const found: string[] = [];
      collectIgnored(body, schema, '', found);
      return found;
    },
  };
}

function fillDefaults(value: unknown, schema: SchemaNode): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (schema.items?.properties === undefined) return;
    for (const item of value) fillDefaults(item, schema.items);
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (fields[name] !== undefined) fillDefaults(fields[name], field);
    else if (field.default !== undefined) fields[name] = structuredClone(field.default);
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
    // The branches of a union each complain; the union itself says enough.
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
  return error.keyword === 'anyOf' ? 'has none of the allowed forms' : error.message;
}

function collectIgnored(value: unknown, schema: SchemaNode, path: string, found: string[]): void {
  if (found.length >= IGNORED_FIELDS_MAX || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items?.properties === undefined) return;
    for (const item of value) collectIgnored(item, items, path, found);
    return;
  }
  const { properties } = schema;
  if (properties === undefined || schema.additionalProperties !== undefined) return;
  for (const [name, member] of Object.entries(value)) {
    // A field may be called like a method that every object has.
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const fieldPath = path === '' ? name : `${path}.${name}`;
    if (field !== undefined) collectIgnored(member, field, fieldPath, found);
    else if (!found.includes(fieldPath) && found.length < IGNORED_FIELDS_MAX) found.push(fieldPath);
  }
}
