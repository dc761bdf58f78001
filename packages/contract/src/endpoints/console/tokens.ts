import Type, { type Static } from 'typebox';
import { scopes } from '../../endpoint.ts';
import {
  Cursor,
  Defaulted,
  Id,
  Integer,
  LIST_LIMIT_MAX,
  List,
  ListLimit,
  NextCursor,
  Nullable,
  Ok,
  OneOf,
  Text,
  Timestamp,
} from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { defineConsoleEndpoint } from './fields.ts';
import { examplePerson } from './session.ts';

export const TOKEN_LIFE_MS_MIN = 60_000;
export const TOKEN_LIFE_MS_MAX = 10 * 365 * 24 * 60 * 60 * 1000;

const TokenScopes = List(OneOf(scopes), scopes.length);
const tokenTimes = {
  createdAt: Timestamp(),
  lastUsedAt: Nullable(Timestamp('Accurate to one minute.')),
  expiresAt: Timestamp(),
};

/** The record of a service token, without the token itself. */
export const ServiceToken = Type.Object({
  tokenId: Id('token'),
  name: Text(200),
  scopes: TokenScopes,
  createdBy: Text(200, { description: 'The name of the person, or operator.' }),
  ...tokenTimes,
});
export type ServiceToken = Static<typeof ServiceToken>;

/** The record of the token of a machine or an assistant, without the token itself. */
export const DeviceToken = Type.Object({
  tokenId: Id('token'),
  kind: OneOf(['device', 'assistant']),
  personId: Id('person'),
  personName: Text(200),
  machineName: Text(200, { description: 'Of an assistant: the host of its client, or its name.' }),
  ...tokenTimes,
});
export type DeviceToken = Static<typeof DeviceToken>;

const exampleTokenId = 'tok_1j78s1eg0003qjivc1p2';
const exampleServiceToken: ServiceToken = {
  tokenId: exampleTokenId,
  name: 'CI',
  scopes: ['agent', 'enqueue', 'read', 'integrate'],
  createdBy: examplePerson.name,
  createdAt: '2026-11-02T09:00:00.000Z',
  lastUsedAt: null,
  expiresAt: '2027-11-02T09:00:00.000Z',
};
const exampleDeviceToken: DeviceToken = {
  tokenId: exampleTokenId,
  kind: 'device',
  personId: examplePerson.personId,
  personName: examplePerson.name,
  machineName: 'build-7',
  createdAt: '2026-11-02T09:00:00.000Z',
  lastUsedAt: '2026-11-02T09:04:00.000Z',
  expiresAt: '2027-01-31T09:04:00.000Z',
};

const Revoked = Ok({ revoked: Type.Unsafe<true>({ type: 'boolean', const: true }) });
const tokenRef = Type.Object({ workspaceId: Id('workspace'), tokenId: Id('token') });
const exampleRef = { workspaceId: exampleIds.workspace, tokenId: exampleTokenId };

export const serviceTokens = {
  list: defineConsoleEndpoint({
    name: 'consoleServiceTokenList',
    path: '/console-api/v1/service-tokens/list',
    repeat: 'safe',
    summary: 'List the tokens of service principals',
    description: 'For owners and admins. Newest first, with expired ones and without revoked ones.',
    request: Type.Object({ workspaceId: Id('workspace'), limit: ListLimit, cursor: Cursor }),
    response: Ok({ tokens: List(ServiceToken, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, tokens: [exampleServiceToken], nextCursor: null },
    },
  }),
  mint: defineConsoleEndpoint({
    name: 'consoleServiceTokenMint',
    path: '/console-api/v1/service-tokens/mint',
    repeat: 'once',
    summary: 'Mint a token for a service principal',
    description:
      'For owners and admins. The answer has the token, only this once; the hub stores its hash. ' +
      'Tokens with the same name belong to one principal. By default, a token has all scopes but ' +
      'decide and lives for 365 days.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      name: Text(80, {
        minLength: 1,
        description: 'Letters, digits, spaces and . _ @ -. It must begin with a letter or digit.',
      }),
      scopes: Type.Optional(TokenScopes),
      expiresInMs: Type.Optional(Integer(TOKEN_LIFE_MS_MIN, TOKEN_LIFE_MS_MAX)),
    }),
    response: Ok({ token: Text(200), serviceToken: ServiceToken }),
    example: {
      request: { workspaceId: exampleIds.workspace, name: 'CI' },
      response: {
        ok: true,
        token: 'sbx_s_8mJm0o9bXQe7r2nZ5uTq8hWd1sLxAkq0Vv9mYc4Yt3o1Qz4Kp',
        serviceToken: exampleServiceToken,
      },
    },
  }),
  revoke: defineConsoleEndpoint({
    name: 'consoleServiceTokenRevoke',
    path: '/console-api/v1/service-tokens/revoke',
    repeat: 'safe',
    summary: "Revoke a service principal's token",
    description: 'For owners and admins. It ends on this hub at once, on other hubs within 1 s.',
    request: tokenRef,
    response: Revoked,
    errors: ['TOKEN_NOT_FOUND'],
    example: { request: exampleRef, response: { ok: true, revoked: true } },
  }),
} as const;

export const deviceTokens = {
  list: defineConsoleEndpoint({
    name: 'consoleDeviceTokenList',
    path: '/console-api/v1/device-tokens/list',
    repeat: 'safe',
    summary: 'List the machines that are logged in',
    description:
      'All members may list their own; owners and admins may list all. Newest first, with ' +
      'expired ones and without revoked ones.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      of: Defaulted(OneOf(['me', 'everybody']), 'me'),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({ tokens: List(DeviceToken, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, tokens: [exampleDeviceToken], nextCursor: null },
    },
  }),
  revoke: defineConsoleEndpoint({
    name: 'consoleDeviceTokenRevoke',
    path: '/console-api/v1/device-tokens/revoke',
    repeat: 'safe',
    summary: 'Log a machine out',
    description:
      'Members may log out their own machines; owners and admins may log out all. Otherwise the ' +
      'answer is TOKEN_NOT_FOUND, whether or not the token exists. It ends on this hub at once, ' +
      'on other hubs within 1 s.',
    request: tokenRef,
    response: Revoked,
    errors: ['TOKEN_NOT_FOUND'],
    example: { request: exampleRef, response: { ok: true, revoked: true } },
  }),
} as const;
