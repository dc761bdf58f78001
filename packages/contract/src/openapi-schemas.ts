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
import * as uncertainties from './endpoints/uncertainty-schemas.ts';
import * as workspaces from './endpoints/workspaces.ts';

/** A schema, or any part of the document, as plain JSON. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue };

const groups = [
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
 * Maps the JSON text of exported schemas to their names, which become names in the document. It
 * compares text, because TypeBox copies a schema when it makes it optional.
 */
const namesOfSchemas = new Map<string, string>(
  groups
    .flatMap((group): [string, unknown][] => Object.entries(group))
    .filter(([, value]) => Type.IsObject(value) || Type.IsUnion(value))
    .map(([name, schema]) => [JSON.stringify(schema), name]),
);

/** Converts schemas to plain JSON, with references in place of named schemas. */
export interface SchemaWriter {
  write(schema: unknown): JsonValue;
  /** The schemas that were referred to, by name. */
  readonly components: Record<string, JsonValue>;
}

export function createSchemaWriter(): SchemaWriter {
  const components: Record<string, JsonValue> = {};

  function write(schema: unknown): JsonValue {
    // Other values in a schema are values of keywords.
    if (schema === null || typeof schema !== 'object') return schema as JsonValue;
    if (Array.isArray(schema)) return schema.map(write);
    const name = namesOfSchemas.get(JSON.stringify(schema));
    if (name === undefined) return writeFields(schema);
    // Added before it is filled, so that components are in the order of first use.
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
