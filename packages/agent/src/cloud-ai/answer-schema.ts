import Schema from 'typebox/schema';

/** A value that fits a JSON Schema, or a sentence about why there is none. */
export type JsonReading =
  | { json: unknown }
  /** `isFinal`: asking once more does not help. */
  | { problem: string; isFinal: boolean };

/**
 * Reads JSON that a schema asked for from a model's answer. The schema comes from whoever enqueued
 * the job, so it is interpreted and never compiled to code.
 */
export function readJsonAnswer(text: string, schema: Record<string, unknown>): JsonReading {
  let json: unknown;
  try {
    json = JSON.parse(stripFence(text));
  } catch {
    return { problem: 'The model answered with something that is no JSON.', isFinal: false };
  }
  try {
    const [fits, errors] = Schema.Errors(schema, json);
    if (fits) return { json };
    const first = errors[0];
    const place = first?.instancePath ? ` at ${first.instancePath}` : '';
    const problem = `The model's JSON does not fit the schema${place}: ${first?.message}.`;
    return { problem, isFinal: false };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { problem: `The responseSchema cannot be used: ${message}`, isFinal: true };
  }
}

/** Models without structured output like to wrap JSON as they would in a chat. */
function stripFence(text: string): string {
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text;
}
