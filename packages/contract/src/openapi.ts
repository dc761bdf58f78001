import type { TSchema } from 'typebox';
import type { Endpoint } from './endpoint.ts';
import {
  buildErrorSchemas,
  createErrorWriter,
  type ErrorWriter,
  headerComponents,
  requestIdHeader,
} from './openapi-errors.ts';
import { createSchemaWriter, type JsonValue, type SchemaWriter } from './openapi-schemas.ts';
import {
  describeSecurity,
  describeSecuritySchemes,
  SIGNATURE_PARAMETER,
} from './openapi-security.ts';
import { VERSION } from './version.ts';

/** An OpenAPI 3.1 document as plain JSON. */
export interface OpenApiDocument {
  openapi: string;
  info: Record<string, JsonValue>;
  servers: JsonValue[];
  tags: { name: string; description: string }[];
  /** By path, then by method in lower case. */
  paths: Record<string, Record<string, Record<string, JsonValue>>>;
  components: Record<string, JsonValue>;
}

export interface OpenApiOptions {
  /** The rows to describe. The hub passes those that have a handler. */
  endpoints: readonly Endpoint[];
  /** The address of the hub, such as `http://127.0.0.1:4400`. */
  baseUrl: string;
}

const tagDescriptions: Record<string, string> = {
  Health: 'Whether the hub answers, and this description.',
  Workspaces: 'Every other record belongs to a workspace. Clients find it by its slug.',
  'Device login': "A machine gets a token with a person's approval, and revokes it.",
  Administration: 'Members and tokens of a workspace, for people on their own machines.',
  Agents: "Programs that take jobs, on developers' machines and in CI.",
  Repositories: 'The hub knows them by a hash of their remote URL, never by the URL itself.',
  Review: 'Comments of people on lines of a result, which a round gets and answers.',
  Works: 'Approve, land and close pieces of work, which are jobs that continue each other.',
  Jobs: 'The queue: enqueue, claim under a lease, renew the lease, complete with evidence.',
  'Job events': 'The timeline of a job.',
  Runs: 'Goals in a repository, towards which jobs work.',
  Uncertainties: 'Questions of agents. Those promoted to decision requests are in the inbox.',
  'Cloud AI jobs': 'Model calls, run under a lease by agents that hold the keys of a provider.',
  'Context items': 'The store of knowledge about a workspace.',
  'Context packs': 'Immutable selections of context for a run.',
  Uploads: 'Files, sent and fetched through signed URLs.',
  Integrations: 'Events from other systems, and the ledger of their results.',
  Triggers: 'They start runs, by an event or by a schedule.',
  Changes: 'Hints of what changed, as it happens. Reads have the truth.',
};

const apiDescription = `The machine-to-machine interface of a Signalbox hub.

- Bodies are JSON of at most 256 KB (262,144 bytes). Success is 200 with \`ok: true\` and the
  fields next to it; failure is \`ok: false\` with a stable code in \`error\`, a sentence in
  \`message\` and the \`requestId\`. Every answer has the request id in \`x-request-id\` too.
- Unknown fields of a request are ignored and named in \`x-ignored-fields\`.
- Ids are opaque strings. Unknown ids and those of another workspace get the same answer.
- Times are RFC 3339 in UTC, in fields named \`…At\`; durations are integers in fields named \`…Ms\`.
- Lists take \`limit\` and \`cursor\` and return \`nextCursor\`, null at the end.
- Calls that create something take \`idempotencyKey\`, so that a retry does not act twice.`;

/**
 * Describes the given endpoints as OpenAPI 3.1, from the schemas that validate requests.
 *
 * @throws {Error} if a row cannot be described: a console endpoint, or a tag without a description
 * in this file. Both are mistakes in the table, and the tests find them.
 */
export function buildOpenApi({ endpoints, baseUrl }: OpenApiOptions): OpenApiDocument {
  const schemas = createSchemaWriter();
  const errors = createErrorWriter();
  const paths: OpenApiDocument['paths'] = {};
  for (const endpoint of endpoints) {
    const operations = paths[endpoint.path] ?? {};
    operations[endpoint.method.toLowerCase()] = buildOperation(endpoint, schemas, errors);
    paths[endpoint.path] = operations;
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Signalbox control plane',
      version: VERSION,
      description: apiDescription,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [buildServer(baseUrl)],
    tags: buildTags(endpoints),
    paths,
    components: {
      securitySchemes: describeSecuritySchemes(new Set(endpoints.map(({ auth }) => auth))),
      headers: keepUsedHeaders(paths, errors),
      responses: errors.responses,
      examples: errors.examples,
      schemas: { ...schemas.components, ...buildErrorSchemas(errors) },
    },
  };
}

/** For localhost the host is a variable, because clients elsewhere need another name. */
function buildServer(baseUrl: string): JsonValue {
  const url = baseUrl.replace(/\/+$/, '');
  const description = 'This hub.';
  const own = /^(https?:\/\/)localhost(?=[:/]|$)(.*)$/i.exec(url);
  if (own === null) return { url, description };
  return {
    url: `${own[1]}{host}${own[2]}`,
    description,
    variables: { host: { default: 'localhost', description: 'The host on which the hub runs.' } },
  };
}

function buildTags(endpoints: readonly Endpoint[]): OpenApiDocument['tags'] {
  return [...new Set(endpoints.map(({ tag }) => tag))].map((name) => {
    const description = tagDescriptions[name];
    if (description === undefined) throw new Error(`The tag ${name} has no description`);
    return { name, description };
  });
}

function buildOperation(
  endpoint: Endpoint,
  schemas: SchemaWriter,
  errors: ErrorWriter,
): Record<string, JsonValue> {
  const parameters = buildParameters(endpoint, schemas);
  const requestBody = buildRequestBody(endpoint, schemas);
  return {
    operationId: endpoint.name,
    summary: endpoint.summary,
    description: describeOperation(endpoint),
    tags: [endpoint.tag],
    security: describeSecurity(endpoint.auth),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody === null ? {} : { requestBody }),
    responses: { ...buildSuccess(endpoint, schemas), ...errors.write(endpoint) },
    'x-origin': endpoint.origin,
    ...(endpoint.scopes.length > 0 ? { 'x-scopes': [...endpoint.scopes] } : {}),
  };
}

function describeOperation({ description, scopes, origin }: Endpoint): string {
  const lines = [description];
  if (scopes.length > 0) {
    lines.push(`Scope of the token: ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`);
  }
  if (origin === 'extension') lines.push('An extension of the specification.');
  return lines.join('\n\n');
}

function sendsJson(endpoint: Endpoint): boolean {
  return endpoint.method !== 'GET' && endpoint.bytes !== 'request';
}

/** Without a JSON body, the fields of the request are in the query. */
function buildParameters(endpoint: Endpoint, schemas: SchemaWriter): JsonValue[] {
  if (endpoint.auth === 'chat-signature') {
    return [
      {
        name: 'x-slack-request-timestamp',
        in: 'header',
        required: true,
        description: 'Unix time in seconds; part of the signed text; at most 5 minutes off.',
        schema: { type: 'string', maxLength: 20 },
        example: '1793610000',
      },
    ];
  }
  if (sendsJson(endpoint)) return [];
  const required: readonly string[] = endpoint.request.required ?? [];
  // Examples have the types of their schemas, and all schemas describe JSON.
  const example = endpoint.example.request as Record<string, JsonValue>;
  return Object.entries(endpoint.request.properties)
    .filter(([name]) => !(endpoint.auth === 'signed-url' && name === SIGNATURE_PARAMETER))
    .map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      schema: schemas.write(schema),
      ...(example[name] === undefined ? {} : { example: example[name] }),
    }));
}

function buildRequestBody(endpoint: Endpoint, schemas: SchemaWriter): JsonValue | null {
  if (endpoint.bytes === 'request') {
    return { required: true, description: 'The bytes.', content: buildBytes() };
  }
  if (!sendsJson(endpoint)) return null;
  const required: readonly string[] = endpoint.request.required ?? [];
  // A call without required fields may be sent without a body.
  const optional = required.length === 0 && !('anyOf' in endpoint.request);
  return {
    required: !optional,
    content: buildJson(endpoint.request, endpoint.example.request, schemas),
  };
}

function buildSuccess(endpoint: Endpoint, schemas: SchemaWriter): Record<string, JsonValue> {
  if (endpoint.bytes === 'response') {
    return {
      '200': { description: 'All bytes.', headers: requestIdHeader, content: buildBytes() },
      '206': {
        description: 'The bytes of the requested range.',
        headers: {
          ...requestIdHeader,
          'content-range': { $ref: '#/components/headers/ContentRange' },
        },
        content: buildBytes(),
      },
    };
  }
  if (endpoint.streams) {
    return {
      '200': {
        description: 'Server-sent events. The schema is that of the data of each.',
        headers: requestIdHeader,
        content: {
          'text/event-stream': {
            schema: schemas.write(endpoint.response),
            // The example has the type of its schema, and all schemas describe JSON.
            example: endpoint.example.response as JsonValue,
          },
        },
      },
    };
  }
  const ignored = { 'x-ignored-fields': { $ref: '#/components/headers/IgnoredFields' } };
  return {
    '200': {
      description: 'Success.',
      headers: { ...requestIdHeader, ...(sendsJson(endpoint) ? ignored : {}) },
      content: buildJson(endpoint.response, endpoint.example.response, schemas),
    },
  };
}

/** The example has the type of its schema, and all schemas describe JSON, so the cast is safe. */
function buildJson(schema: TSchema, example: unknown, schemas: SchemaWriter): JsonValue {
  return {
    'application/json': { schema: schemas.write(schema), example: example as JsonValue },
  };
}

/** OpenAPI 3.1 describes raw bytes by a media type without a schema type. */
function buildBytes(): JsonValue {
  return { 'application/octet-stream': { schema: {} } };
}

function keepUsedHeaders(
  paths: OpenApiDocument['paths'],
  errors: ErrorWriter,
): Record<string, JsonValue> {
  const text = JSON.stringify([paths, errors.responses]);
  return Object.fromEntries(
    Object.entries(headerComponents).filter(([name]) =>
      text.includes(`"#/components/headers/${name}"`),
    ),
  );
}
