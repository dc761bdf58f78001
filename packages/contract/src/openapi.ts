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
  /** The rows to describe: the hub passes those that it has a handler for. */
  endpoints: readonly Endpoint[];
  /** Where the hub is reached, such as `http://127.0.0.1:4400`. */
  baseUrl: string;
  /** Version of the hub. */
  version: string;
}

const tagDescriptions: Record<string, string> = {
  Health: 'Whether the hub answers, and this description.',
  Workspaces: 'Where everything else belongs; found by slug.',
  'Device login': "How a machine gets a token with a person's approval, and gives it back.",
  Agents: "Programs that take jobs, on developers' machines and in CI.",
  Repositories: 'Known by a hash of their remote URL; the URL itself never reaches the hub.',
  Jobs: 'The queue: enqueue, claim under a lease, renew the lease, complete with evidence.',
  'Job events': 'What happened to a job, in order.',
  Runs: 'Goals in a repository, towards which jobs work.',
  Uncertainties: 'Questions of agents; promoted to decision requests, they wait in the inbox.',
  'Cloud AI jobs': 'Model calls, run under a lease by whoever holds the provider keys.',
  'Context items': 'The store of what is known about a workspace.',
  'Context packs': 'Immutable selections of context for a run.',
  Uploads: 'Files, sent and fetched by signed URLs.',
  Integrations: 'Events that other systems send in, and the ledger of what came of them.',
  Triggers: 'What starts a run by an event or by the clock.',
};

const apiDescription = `The machine-to-machine interface of a Signalbox hub.

- Bodies are JSON of at most 256 KB (262,144 bytes). Success is 200 with \`ok: true\` and the
  fields beside it; failure is \`ok: false\` with a stable code in \`error\`, a sentence in
  \`message\` and the \`requestId\` that every answer also carries in \`x-request-id\`.
- Unknown fields of a request are ignored and named in \`x-ignored-fields\`.
- Ids are opaque strings. Unknown ids and those of another workspace are answered alike.
- Times are RFC 3339 in UTC, in fields named \`…At\`; durations are integers in fields named \`…Ms\`.
- Lists take \`limit\` and \`cursor\` and return \`nextCursor\`, null at the end.
- Calls that create something take \`idempotencyKey\`, so that a retry does nothing twice.`;

/**
 * Describes the given endpoints as OpenAPI 3.1, from the very schemas that validate requests.
 *
 * @throws {Error} for a row that cannot be described: a console endpoint, or a tag without a
 * description here. Both are mistakes in the table, found by the tests.
 */
export function buildOpenApi({ endpoints, baseUrl, version }: OpenApiOptions): OpenApiDocument {
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
      version,
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

/** A hub that calls itself localhost has another name elsewhere: there the host is a variable. */
function buildServer(baseUrl: string): JsonValue {
  const url = baseUrl.replace(/\/+$/, '');
  const description = 'This hub.';
  const own = /^(https?:\/\/)localhost(?=[:/]|$)(.*)$/i.exec(url);
  if (own === null) return { url, description };
  return {
    url: `${own[1]}{host}${own[2]}`,
    description,
    variables: { host: { default: 'localhost', description: 'Where the hub runs.' } },
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

/** The fields of a request without a JSON body travel in the query. */
function buildParameters(endpoint: Endpoint, schemas: SchemaWriter): JsonValue[] {
  if (endpoint.auth === 'chat-signature') {
    return [
      {
        name: 'x-slack-request-timestamp',
        in: 'header',
        required: true,
        description: 'Unix time in seconds, part of what is signed; at most 5 minutes off.',
        schema: { type: 'string', maxLength: 20 },
        example: '1793610000',
      },
    ];
  }
  if (sendsJson(endpoint)) return [];
  const required: readonly string[] = endpoint.request.required ?? [];
  // Examples are typed by their schemas, which say nothing but JSON.
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
        description: 'The bytes of the range asked for.',
        headers: {
          ...requestIdHeader,
          'content-range': { $ref: '#/components/headers/ContentRange' },
        },
        content: buildBytes(),
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

/** The example is typed by its schema, which says nothing but JSON: hence the cast. */
function buildJson(schema: TSchema, example: unknown, schemas: SchemaWriter): JsonValue {
  return {
    'application/json': { schema: schemas.write(schema), example: example as JsonValue },
  };
}

/** OpenAPI 3.1 says raw bytes by a media type without a schema type. */
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
