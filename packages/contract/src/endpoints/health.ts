import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { JsonObject, Ok } from '../schema.ts';

/** A check for the software that runs the hub, such as a load balancer. */
function check(name: string, path: string) {
  return {
    ...{ name, path },
    method: 'GET',
    tag: 'Health',
    auth: 'none',
    scopes: [],
    origin: 'extension',
    console: false,
    repeat: 'safe',
    jobToken: 'none',
    request: Type.Object({}),
    response: Ok({}),
    errors: [],
    example: { request: {}, response: { ok: true } },
  } as const;
}

export const health = {
  health: defineEndpoint({
    name: 'health',
    method: 'GET',
    path: '/control-plane/health',
    tag: 'Health',
    auth: 'none',
    scopes: [],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    jobToken: 'none',
    summary: 'Check that the hub is healthy',
    description:
      '503 UNAVAILABLE while the hub is stopping, its database is unavailable or cannot be ' +
      'written, or its disk is nearly full.',
    request: Type.Object({}),
    response: Ok({}),
    errors: [],
    example: { request: {}, response: { ok: true } },
  }),
  live: defineEndpoint({
    ...check('live', '/control-plane/live'),
    summary: 'Check that the process of the hub runs',
    description:
      'Always 200: a hub that does not answer should be restarted. For the state of the ' +
      'database and the disk, see /control-plane/ready.',
  }),
  ready: defineEndpoint({
    ...check('ready', '/control-plane/ready'),
    summary: 'Check that the hub can serve requests',
    description:
      '503 UNAVAILABLE, with the reason in message, while the hub is stopping, a write fails or ' +
      'takes longer than 3 s, the database has not answered for 3 s, or the disk is nearly full. ' +
      'Later checks use a success for 2 s.',
  }),
  openapi: defineEndpoint({
    name: 'openapi',
    method: 'GET',
    path: '/control-plane/openapi.json',
    tag: 'Health',
    auth: 'none',
    scopes: [],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    jobToken: 'none',
    summary: 'Describe this API',
    description: 'Returns OpenAPI 3.1, built from the schemas that validate requests.',
    request: Type.Object({}),
    response: JsonDocument(),
    errors: [],
    example: { request: {}, response: { openapi: '3.1.1' } },
  }),
} as const;

/** The document has no `ok`, because OpenAPI tools expect the plain document. */
function JsonDocument() {
  return Type.Object({
    openapi: Type.String({ maxLength: 20 }),
    info: Type.Optional(JsonObject()),
  });
}
