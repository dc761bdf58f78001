import { type JsonObject, objectOf, parseObject, textOf } from './json-fields.ts';

/** The models that a tool offers to jobs, as it says itself. */
export interface OfferedModels {
  /** The one that jobs get which ask for none; '' if the tool does not tell. */
  current: string;
  models: readonly string[];
}

/** The tool that a job asks for; '' if it asks for none. */
export function askedTool(requirements: unknown): string {
  return textOf(fieldsOf(requirements).tool);
}

/** The rung of isolation that a job asks for; '' without one. */
export function askedIsolation(requirements: unknown): string {
  return textOf(fieldsOf(requirements).isolation);
}

/** A setting that a job asks for, or else that of the agent's configuration. */
export function askedSetting(
  name: 'model' | 'effort',
  requirements: unknown,
  own: string | undefined,
): string | undefined {
  const asked = textOf(fieldsOf(requirements)[name]);
  return asked === '' ? own : asked;
}

/** Requirements are an object, JSON text of one, or text for people. */
function fieldsOf(requirements: unknown): JsonObject {
  return typeof requirements === 'string'
    ? (parseObject(requirements) ?? {})
    : objectOf(requirements);
}
