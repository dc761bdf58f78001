import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { JsonObject, Ok } from '../schema.ts';

/** A check for the software that runs the hub, such as a load balancer. */
const check = {
  method: 'GET',
  tag: 'Health',
  auth: 'none',
  scopes: [],
  console: false,
  repeat: 'safe',
  request: Type.Object({}),
  response: Ok({}),
  example: { request: {}, response: { ok: true } },
} as const;

export const health = {
  health: defineEndpoint({
    ...check,
    name: 'health',
    path: '/control-plane/health',
    origin: 'specification',
    summary: 'Check that the hub is healthy',
    description:
      '503 UNAVAILABLE while the hub is stopping, its database is unavailable or cannot be ' +
      'written, or its disk is nearly full.',
  }),
  live: defineEndpoint({
    ...check,
    name: 'live',
    path: '/control-plane/live',
    summary: 'Check that the process of the hub runs',
    description:
      'Always 200: a hub that does not answer should be restarted. For the state of the ' +
      'database and the disk, see /control-plane/ready.',
  }),
  ready: defineEndpoint({
    ...check,
    name: 'ready',
    path: '/control-plane/ready',
    summary: 'Check that the hub can serve requests',
    description:
      '503 UNAVAILABLE, with the reason in message, while the hub is stopping, a write fails or ' +
      'takes longer than 3 s, the database has not answered for 3 s, or the disk is nearly full. ' +
      'Later checks use a success for 2 s.',
  }),
  openapi: defineEndpoint({
    ...check,
    name: 'openapi',
    path: '/control-plane/openapi.json',
    origin: 'specification',
    summary: 'Describe this API',
    description: 'Returns OpenAPI 3.1, built from the schemas that validate requests.',
    response: JsonDocument(),
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
