import Type, { type Static } from 'typebox';
import { Id, List, Nullable, Ok, Text, Timestamp } from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { defineConsoleEndpoint } from './fields.ts';
import { examplePerson } from './session.ts';

/** The maximum of live integration secrets of a workspace: one for each system, and rotations. */
export const INTEGRATION_SECRETS_MAX = 50;

/** The record of a secret, without the secret itself. */
export const IntegrationSecret = Type.Object({
  secretId: Id('integrationSecret'),
  name: Text(80),
  createdBy: Text(200, { description: 'The id of the person.' }),
  createdAt: Timestamp(),
  lastUsedAt: Nullable(Timestamp('Accurate to one minute.')),
});
export type IntegrationSecret = Static<typeof IntegrationSecret>;

const exampleSecret: IntegrationSecret = {
  secretId: 'sec_1j78s1eg0003qjivc1p3',
  name: 'tracker',
  createdBy: examplePerson.personId,
  createdAt: '2026-11-02T09:00:00.000Z',
  lastUsedAt: null,
};
export const integrationSecrets = {
  mint: defineConsoleEndpoint({
    name: 'consoleIntegrationSecretMint',
    path: '/console-api/v1/integration-secrets/mint',
    repeat: 'once',
    summary: 'Mint a secret with which a system sends events to a workspace',
    description:
      'For owners and admins. The answer has the secret, only this once; the hub keeps its hash. ' +
      'It opens this workspace only. To rotate, mint a second one and revoke the first when no ' +
      'system uses it any more.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      name: Text(80, { minLength: 1, description: 'The system that uses it.' }),
    }),
    response: Ok({
      secret: Text(200, { description: 'For the header of integrations/events/v1/ingest.' }),
      integrationSecret: IntegrationSecret,
    }),
    example: {
      request: { workspaceId: exampleIds.workspace, name: exampleSecret.name },
      response: {
        ok: true,
        secret: 'sbx_i_8mJm0o9bXQe7r2nZ5uTq8hWd1sLxAkq0Vv9mYc4Yt3o1Qz4Kp',
        integrationSecret: exampleSecret,
      },
    },
  }),
  list: defineConsoleEndpoint({
    name: 'consoleIntegrationSecretList',
    path: '/console-api/v1/integration-secrets/list',
    repeat: 'safe',
    summary: 'List the integration secrets of a workspace',
    description: 'For owners and admins. Oldest first, without revoked ones.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({ integrationSecrets: List(IntegrationSecret, INTEGRATION_SECRETS_MAX) }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, integrationSecrets: [exampleSecret] },
    },
  }),
  revoke: defineConsoleEndpoint({
    name: 'consoleIntegrationSecretRevoke',
    path: '/console-api/v1/integration-secrets/revoke',
    repeat: 'safe',
    summary: 'Revoke an integration secret',
    description: 'For owners and admins. Events with the secret are refused from then on.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      secretId: Id('integrationSecret'),
    }),
    response: Ok({
      revoked: Type.Boolean({ description: 'False if the workspace has no such live secret.' }),
    }),
    example: {
      request: { workspaceId: exampleIds.workspace, secretId: exampleSecret.secretId },
      response: { ok: true, revoked: true },
    },
  }),
} as const;
