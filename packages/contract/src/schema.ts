/**
 * Building blocks for the schemas of the wire. Every string and array has a maximum, so that no
 * input of unbounded size enters the hub. TypeBox schemas are JSON Schema 2020-12: the same objects
 * validate requests, type both sides and document the API.
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
/** The maximum for long texts, such as prompts. In practice the limit of the body is tighter. */
export const TEXT_CHARS_MAX = 200_000;
export const LIST_LIMIT_DEFAULT = 50;
export const LIST_LIMIT_MAX = 200;

/** An optional field with a default, which the hub fills in before it calls the handler. */
export type TDefaulted<T extends TSchema> = TOptional<T> & { default: Static<T> };

/** Makes a field optional and sets the default that the hub fills in. */
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
 * An id of one kind. The schema accepts any plausible string: an id of the wrong shape gets the
 * same answer as an unknown one, so that callers learn nothing from the difference.
 */
export function Id(kind: IdKind, description?: string): TString {
  return Type.String({
    minLength: 1,
    maxLength: 100,
    description: description ?? `Id of ${withArticle(kindWords[kind])} (${idPrefixes[kind]}_…).`,
  });
}

function withArticle(word: string): string {
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
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
  comment: 'review comment',
  resolution: 'resolution',
  cloudAiJob: 'cloud AI job',
  contextItem: 'context item',
  contextPack: 'context pack',
  upload: 'upload',
  integrationEvent: 'integration event',
  trigger: 'trigger',
  token: 'token',
  integrationSecret: 'integration secret',
  device: 'device session',
  person: 'person',
  session: 'console session',
  invitation: 'invitation',
  mailAccount: 'mail account',
  notificationChannel: 'notification channel',
  notification: 'notification',
  decisionRule: 'rule',
  request: 'request',
};

/** A time as RFC 3339 in UTC, such as `2026-01-31T09:30:00.000Z`. */
export function Timestamp(description?: string): TString {
  return Type.String({
    format: 'date-time',
    maxLength: 40,
    ...(description === undefined ? {} : { description }),
  });
}

/** Any JSON value. The limit of the body bounds its size. */
export function Json(description?: string): TUnsafe<unknown> {
  return Type.Unsafe<unknown>(description === undefined ? {} : { description });
}

/** A JSON object with any keys. */
export function JsonObject(description?: string): TUnsafe<Record<string, unknown>> {
  return Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    ...(description === undefined ? {} : { description }),
  });
}

/** Limits of labels. */
export const LABELS_MAX = 32;
export const LABEL_NAME_CHARS_MAX = 64;
export const LABEL_VALUE_CHARS_MAX = 200;

/** Labels of an agent, or those that a job requires: a map from name to value. */
export function Labels(description: string): TUnsafe<Record<string, string>> {
  return Type.Unsafe<Record<string, string>>({
    type: 'object',
    propertyNames: { type: 'string', minLength: 1, maxLength: LABEL_NAME_CHARS_MAX },
    additionalProperties: { type: 'string', maxLength: LABEL_VALUE_CHARS_MAX },
    maxProperties: LABELS_MAX,
    description,
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

/** The body of a success: `ok: true` and the fields next to it, without a wrapper. */
export function Ok<P extends TProperties>(fields: P, description?: string) {
  return Type.Object(
    { ok: Type.Unsafe<true>({ type: 'boolean', const: true }), ...fields },
    description === undefined ? {} : { description },
  );
}

/** A key by which the hub recognizes a repeated call and returns the first answer. */
export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x21-\\x7e]+$',
  description:
    'Visible ASCII. The same key with the same body returns the first answer again, with ' +
    'idempotent: true. With another body it is IDEMPOTENCY_CONFLICT. Keys are kept for 7 days.',
});

export const ListLimit = Defaulted(Integer(1, LIST_LIMIT_MAX), LIST_LIMIT_DEFAULT);
export const Cursor = Type.Optional(
  Text(500, { description: 'Opaque: the nextCursor of the previous page.' }),
);
export const NextCursor = Nullable(Text(500, { description: 'Null on the last page.' }));

/** A request as the handler gets it: fields with a default are always present. */
export type RequestInput<R extends TObject> = Static<R> & {
  [K in keyof R['properties'] as R['properties'][K] extends { default: unknown }
    ? K
    : never]-?: Static<R['properties'][K]>;
};
