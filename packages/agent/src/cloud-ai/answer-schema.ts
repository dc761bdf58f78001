import Schema from 'typebox/schema';

/** A value that matches a JSON Schema, or the reason why the answer has no such value. */
export type JsonReading =
  | { json: unknown }
  /** `isFinal`: another call would not help. */
  | { problem: string; isFinal: boolean };

/**
 * Parses a model's answer and validates it against the job's schema. The schema is untrusted input
 * of the job, so it is interpreted and never compiled to code.
 */
export function readJsonAnswer(text: string, schema: Record<string, unknown>): JsonReading {
  let json: unknown;
  try {
    json = JSON.parse(stripFence(text));
  } catch {
    return { problem: "The model's answer is not valid JSON.", isFinal: false };
  }
  try {
    const [fits, errors] = Schema.Errors(schema, json);
    if (fits) return { json };
    const first = errors[0];
    const place = first?.instancePath ? ` at ${first.instancePath}` : '';
    const problem = `The model's JSON does not match the schema${place}: ${first?.message}.`;
    return { problem, isFinal: false };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { problem: `The responseSchema is not usable: ${message}`, isFinal: true };
  }
}

/** Removes a Markdown code fence, which models without structured output often add around JSON. */
function stripFence(text: string): string {
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text;
}
