import type { ErrorDetail } from '@signalbox/contract';
import type { Static, TObject } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { HubError } from '../errors.ts';
import { readShape, type Shape } from './shape.ts';

/** Enough to mend a request by; a hostile one must not be answered at length. */
const DETAILS_MAX = 20;
const IGNORED_FIELDS_MAX = 20;

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
  let known: Shape | null = null;
  return {
    validate(body) {
      compiled ??= Compile(schema);
      known ??= readShape(schema);
      fillDefaults(body, known);
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
      known ??= readShape(schema);
      const found: string[] = [];
      collectIgnored(body, known, '', found);
      return found;
    },
  };
}

function fillDefaults(value: unknown, shape: Shape): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (shape.items === null) return;
    for (const item of value) fillDefaults(item, shape.items);
    return;
  }
  const fields = value as Record<string, unknown>;
  for (const [name, nested] of shape.withDefaults) fillDefaults(fields[name], nested);
  for (const [name, make] of shape.defaults) {
    if (fields[name] === undefined) fields[name] = make();
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

function collectIgnored(value: unknown, shape: Shape, path: string, found: string[]): void {
  if (found.length >= IGNORED_FIELDS_MAX || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (shape.items === null) return;
    for (const item of value) collectIgnored(item, shape.items, path, found);
    return;
  }
  if (shape.keepsUnknown) return;
  const members = value as Record<string, unknown>;
  // What JSON.parse made has no inherited members.
  for (const name in members) {
    const field = shape.fields.get(name);
    if (field === null) continue;
    const fieldPath = path === '' ? name : `${path}.${name}`;
    if (field !== undefined) collectIgnored(members[name], field, fieldPath, found);
    else if (!found.includes(fieldPath) && found.length < IGNORED_FIELDS_MAX) found.push(fieldPath);
  }
}
