import Type from 'typebox';
import * as agents from './endpoints/agents.ts';
import * as cloudAiJobs from './endpoints/cloud-ai-jobs.ts';
import * as contextItems from './endpoints/context-items.ts';
import * as contextPacks from './endpoints/context-packs.ts';
import * as integrationEvents from './endpoints/integration-events.ts';
import * as integrations from './endpoints/integrations.ts';
import * as jobEvents from './endpoints/job-events.ts';
import * as jobs from './endpoints/job-schemas.ts';
import * as repositories from './endpoints/repositories.ts';
import * as runs from './endpoints/runs.ts';
import * as triggers from './endpoints/triggers.ts';
import * as uncertainties from './endpoints/uncertainties.ts';
import * as workspaces from './endpoints/workspaces.ts';

/** A schema, or any part of the document, as plain JSON. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue };

const nouns = [
  workspaces,
  agents,
  repositories,
  jobs,
  jobEvents,
  runs,
  uncertainties,
  cloudAiJobs,
  contextItems,
  contextPacks,
  integrations,
  integrationEvents,
  triggers,
];

/**
 * Exported records by their JSON text: the name in the code is the name in the document. Text and
 * not identity, because TypeBox copies a schema that it marks as optional.
 */
const namesOfSchemas = new Map<string, string>(
  nouns
    .flatMap((noun): [string, unknown][] => Object.entries(noun))
    .filter(([, value]) => Type.IsObject(value) || Type.IsUnion(value))
    .map(([name, schema]) => [JSON.stringify(schema), name]),
);

/** Turns schemas into plain JSON in which every named record is a reference. */
export interface SchemaWriter {
  write(schema: unknown): JsonValue;
  /** The records that were referred to, by name. */
  readonly components: Record<string, JsonValue>;
}

export function createSchemaWriter(): SchemaWriter {
  const components: Record<string, JsonValue> = {};

  function write(schema: unknown): JsonValue {
    // What is no object in a schema is a keyword's plain value.
    if (schema === null || typeof schema !== 'object') return schema as JsonValue;
    if (Array.isArray(schema)) return schema.map(write);
    const name = namesOfSchemas.get(JSON.stringify(schema));
    if (name === undefined) return writeFields(schema);
    // Entered before it is filled, so that components stand in the order of first use.
    if (!(name in components)) {
      components[name] = {};
      components[name] = writeFields(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  function writeFields(schema: object): JsonValue {
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, write(value)]));
  }

  return { write, components };
}
