import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { JsonObject, Ok } from '../schema.ts';

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
    description: '503 UNAVAILABLE while the hub is stopping or its database is unavailable.',
    request: Type.Object({}),
    response: Ok({}),
    errors: [],
    example: { request: {}, response: { ok: true } },
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
