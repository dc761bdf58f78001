/**
 * The pieces that schemas of the wire are made of. Every string and array has a maximum here, so
 * that nothing of unbounded size enters the hub. TypeBox schemas are JSON Schema 2020-12: the same
 * objects validate requests, type both sides and document the API.
 */
import Type, {
  type Static,
  type TArray,
  type TInteger,
  type TNull,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TString,
  type TUnion,
  type TUnsafe,
} from 'typebox';
import { type IdKind, idPrefixes } from './ids.ts';

/** Bytes of a request body, counted on the wire (docs/reference/specification.md, Limits). */
export const BODY_BYTES_MAX = 262_144;
/** A long text: a prompt, a message. Only the body limit is tighter in practice. */
export const TEXT_CHARS_MAX = 200_000;
export const LIST_LIMIT_DEFAULT = 50;
export const LIST_LIMIT_MAX = 200;

/** An optional field with a written default: the hub fills it in before the handler sees it. */
export type TDefaulted<T extends TSchema> = TOptional<T> & { default: Static<T> };

/** Marks a field as optional and gives the value that the hub uses in its place. */
export function Defaulted<T extends TSchema>(schema: T, value: Static<T>): TDefaulted<T> {
  // TypeBox types options by schema kind; for any schema, `default` is an ordinary JSON keyword.
  return Type.Optional({ ...schema, default: value }) as unknown as TDefaulted<T>;
}

export function Nullable<T extends TSchema>(schema: T): TUnion<[T, TNull]> {
  return Type.Union([schema, Type.Null()]);
}

/** A closed set of strings, as `enum`. */
export function OneOf<const V extends readonly string[]>(
  values: V,
  options: { description?: string } = {},
): TUnsafe<V[number]> {
  return Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options });
}

export function Text(
  maxLength: number,
  options: { minLength?: number; description?: string; pattern?: string } = {},
): TString {
  return Type.String({ maxLength, ...options });
}

/**
 * An id of one kind. The schema asks only for a plausible opaque string: an id of the wrong shape
 * is answered like an unknown one, so that nothing is learned from the difference.
 */
export function Id(kind: IdKind, description?: string): TString {
  return Type.String({
    minLength: 1,
    maxLength: 100,
    description: description ?? `Id of a ${kindWords[kind]} (${idPrefixes[kind]}_…).`,
  });
}

const kindWords: Record<IdKind, string> = {
  workspace: 'workspace',
  agent: 'agent',
  repository: 'repository',
  job: 'job',
  jobEvent: 'job event',
  run: 'run',
  uncertainty: 'uncertainty',
  decisionRequest: 'decision request',
  resolution: 'resolution',
  cloudAiJob: 'cloud AI job',
  contextItem: 'context item',
  contextPack: 'context pack',
  upload: 'upload',
  integrationEvent: 'integration event',
  trigger: 'trigger',
  token: 'token',
  device: 'device session',
  person: 'person',
  session: 'console session',
  invitation: 'invitation',
  mailAccount: 'mail account',
  request: 'request',
};

/** RFC 3339 in UTC, as in `2026-01-31T09:30:00.000Z`. */
export function Timestamp(description?: string): TString {
  return Type.String({
    format: 'date-time',
    maxLength: 40,
    ...(description === undefined ? {} : { description }),
  });
}

/** Any JSON value; its size is bounded by the body limit. */
export function Json(description?: string): TUnsafe<unknown> {
  return Type.Unsafe<unknown>(description === undefined ? {} : { description });
}

/** A JSON object with free keys. */
export function JsonObject(description?: string): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    ...(description === undefined ? {} : { description }),
  });
}

/** A map from string to string, such as labels. */
export function StringMap(description?: string): TUnsafe<Record<string, string>> {
  return Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string', maxLength: 500 },
    maxProperties: 100,
    ...(description === undefined ? {} : { description }),
  });
}

export function List<T extends TSchema>(
  item: T,
  maxItems: number,
  description?: string,
): TArray<T> {
  return Type.Array(item, { maxItems, ...(description === undefined ? {} : { description }) });
}

export function Integer(minimum: number, maximum: number, description?: string): TInteger {
  return Type.Integer({ minimum, maximum, ...(description === undefined ? {} : { description }) });
}

/** The success body: `ok: true` and the fields beside it, without a wrapper. */
export function Ok<P extends TProperties>(fields: P, description?: string) {
  return Type.Object(
    { ok: Type.Unsafe<true>({ type: 'boolean', const: true }), ...fields },
    description === undefined ? {} : { description },
  );
}

/** The key under which a repeated call is answered with the first answer; kept for 7 days. */
export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'Visible ASCII. Same key and body: the first answer again, with idempotent: true. Same key, ' +
    'other body: IDEMPOTENCY_CONFLICT. Kept 7 days.',
});

export const ListLimit = Defaulted(Integer(1, LIST_LIMIT_MAX), LIST_LIMIT_DEFAULT);
export const Cursor = Type.Optional(
  Text(500, { description: 'nextCursor of the page before; opaque.' }),
);
export const NextCursor = Nullable(Text(500, { description: 'Null on the last page.' }));

/** How a request looks to the handler: fields with a default are always there. */
export type RequestInput<R extends TObject> = Static<R> & {
  [K in keyof R['properties'] as R['properties'][K] extends { default: unknown }
    ? K
    : never]-?: Static<R['properties'][K]>;
};
