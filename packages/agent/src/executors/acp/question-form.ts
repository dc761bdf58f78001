import { createHash } from 'node:crypto';
import type { CreateElicitationRequest } from '@agentclientprotocol/sdk/unstable';
import type { Question, Reply } from '../conversation.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../json-fields.ts';

/** A form of a tool, as questions for people: one for each field. */
export interface QuestionForm {
  fields: FormField[];
}

interface FormField {
  name: string;
  schema: JsonObject;
  question: Question;
  /** The optional text beside a choice, for an answer that is not among the options. */
  ownWords: string | null;
}

const OPTIONS_MAX = 50;

/** Reads a form; null when it has no field that a person could fill in. */
export function readForm(request: CreateElicitationRequest, tool: string): QuestionForm | null {
  const schema = objectOf((request as { requestedSchema?: unknown }).requestedSchema);
  const properties = Object.entries(objectOf(schema.properties)).map(
    ([name, value]): [string, JsonObject] => [name, objectOf(value)],
  );
  const required = listOf(schema.required);
  const isOwnWords = (name: string, field: JsonObject) =>
    field.type === 'string' && choicesOf(field).length === 0 && !required.includes(name);
  const fields = properties.flatMap(([name, field]): FormField[] => {
    const beside = properties.find(
      ([other, candidate]) =>
        other !== name && other.startsWith(name) && isOwnWords(other, candidate),
    );
    const isBeside = properties.some(
      ([other, main]) =>
        other !== name &&
        name.startsWith(other) &&
        choicesOf(main).length > 0 &&
        isOwnWords(name, field),
    );
    if (isBeside) return [];
    const question = questionOf(request.message, { name, field, count: properties.length, tool });
    return [{ name, schema: field, question, ownWords: beside?.[0] ?? null }];
  });
  return fields.length === 0 ? null : { fields };
}

function questionOf(
  message: string,
  { name, field, count, tool }: { name: string; field: JsonObject; count: number; tool: string },
): Question {
  const options = choicesOf(field).slice(0, OPTIONS_MAX);
  const title = textOf(field.title);
  const description = textOf(field.description);
  const own = description || title;
  const prompt = own === '' ? message : own;
  const isMany = field.type === 'array';
  const context = [
    `${tool} asks.`,
    ...(prompt === message || message === '' ? [] : [message]),
    ...(title === '' || title === prompt ? [] : [title]),
    ...(isMany ? ['Several answers are possible: separate them with commas.'] : []),
  ];
  const key = JSON.stringify([message, name, own, options.map(({ value }) => value), count]);
  return {
    actionKey: `form:${createHash('sha256').update(key).digest('hex').slice(0, 40)}`,
    kind: options.length > 0 ? 'choice' : 'missing_fact',
    prompt: prompt === '' ? `${tool} asks a question without words.` : prompt,
    context: context.join('\n'),
    options,
    action: null,
  };
}

function choicesOf(field: JsonObject): { value: string; label: string; description?: string }[] {
  if (field.type === 'boolean') {
    return [
      { value: 'true', label: 'Yes' },
      { value: 'false', label: 'No' },
    ];
  }
  const items = field.type === 'array' ? objectOf(field.items) : field;
  const titled = [...listOf(items.oneOf), ...listOf(items.anyOf)].filter(isObject);
  if (titled.length > 0) {
    return titled.map((option) => {
      const value = textOf(option.const);
      const description = textOf(option.description);
      return {
        value,
        label: textOf(option.title) || value,
        ...(description === '' ? {} : { description }),
      };
    });
  }
  return listOf(items.enum).map((value) => ({ value: String(value), label: String(value) }));
}

/** The value of a field that a reply means; undefined: the person did not answer it. */
export function fillField(field: FormField, reply: Pick<Reply, 'mode' | 'value'>): JsonObject {
  if (reply.mode === 'dismissed') return {};
  const { name, schema, ownWords } = field;
  const { value } = reply;
  const known = new Set(field.question.options.map((option) => option.value));
  if (schema.type === 'boolean') return { [name]: /^(true|yes|y|1)$/i.test(value.trim()) };
  if (schema.type === 'number' || schema.type === 'integer') {
    const number = Number(value);
    return Number.isFinite(number) && value.trim() !== '' ? { [name]: number } : {};
  }
  if (schema.type === 'array') {
    const parts = known.has(value) ? [value] : value.split(/[,\n]/).map((part) => part.trim());
    const chosen = parts.filter((part) => known.has(part));
    const rest = parts.filter((part) => part !== '' && !known.has(part)).join(', ');
    return {
      ...(chosen.length > 0 ? { [name]: chosen } : {}),
      ...(rest === '' || ownWords === null ? {} : { [ownWords]: rest }),
    };
  }
  if (known.size > 0 && !known.has(value)) return ownWords === null ? {} : { [ownWords]: value };
  return { [name]: value };
}
