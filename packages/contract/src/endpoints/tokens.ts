import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, Ok, OneOf, Text, Timestamp } from '../schema.ts';
import { exampleIds } from './example-ids.ts';

export const tokens = {
  revoke: defineEndpoint({
    name: 'authTokenRevoke',
    path: '/control-plane/v1/auth/token/revoke',
    tag: 'Device login',
    scopes: [],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    jobToken: 'by-operation',
    summary: 'Revoke the token of this request',
    description: 'Later calls with the token are 401 TOKEN_REVOKED.',
    request: Type.Object({}),
    response: Ok({ revoked: Type.Unsafe<true>({ type: 'boolean', const: true }) }),
    errors: ['NOT_ALLOWED'],
    example: { request: {}, response: { ok: true, revoked: true } },
  }),
  whoami: defineEndpoint({
    name: 'authTokenWhoami',
    path: '/control-plane/v1/auth/token/whoami',
    tag: 'Device login',
    scopes: [],
    console: false,
    repeat: 'safe',
    jobToken: 'always',
    summary: 'Describe the token of this request',
    description: 'Returns its kind, principal, workspace, scopes and expiry.',
    request: Type.Object({}),
    response: Ok({
      kind: OneOf(['device', 'service', 'job', 'global', 'development']),
      principalId: Text(100),
      displayName: Text(200),
      workspaceId: Type.Union([Id('workspace'), Type.Null()]),
      workspaceSlug: Type.Union([Text(63), Type.Null()]),
      scopes: Type.Array(Text(40), { maxItems: 20 }),
      expiresAt: Type.Union([Timestamp(), Type.Null()]),
    }),
    example: {
      request: {},
      response: {
        ok: true,
        kind: 'device',
        principalId: 'usr_1j78s1do0003qjivc1ov',
        displayName: 'Ada on build-7',
        workspaceId: exampleIds.workspace,
        workspaceSlug: 'acme',
        scopes: ['agent', 'enqueue', 'read', 'decide', 'integrate'],
        expiresAt: '2027-01-31T09:00:00.000Z',
      },
    },
  }),
} as const;
