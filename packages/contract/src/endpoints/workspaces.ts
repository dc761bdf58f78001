import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, Integer, Nullable, Ok, OneOf, Text, Timestamp } from '../schema.ts';
import { exampleIds } from './example-ids.ts';

/** Which inbound content is stored, and for how long. It is applied before anything is written. */
export const DataPolicy = Type.Object({
  contentStorage: OneOf(['full', 'excerpt', 'metadata']),
  retentionDays: Nullable(
    Integer(
      1,
      36_500,
      'Content is deleted this long after it arrived, jobs after they ended. Null keeps ' +
        'everything.',
    ),
  ),
  redactSecrets: Type.Boolean(),
});
export type DataPolicy = Static<typeof DataPolicy>;

/** A workspace's name in addresses and commands. */
export const WorkspaceSlug = Text(63, {
  minLength: 1,
  pattern: '^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$',
  description: 'Lower-case letters, digits and inner dashes.',
});

export const Workspace = Type.Object({
  workspaceId: Id('workspace'),
  slug: Text(63),
  name: Text(200),
  createdAt: Timestamp(),
  dataPolicy: DataPolicy,
});
export type Workspace = Static<typeof Workspace>;

export const exampleWorkspace: Workspace = {
  workspaceId: exampleIds.workspace,
  slug: 'acme',
  name: 'Acme',
  createdAt: '2026-11-02T09:00:00.000Z',
  dataPolicy: { contentStorage: 'full', retentionDays: null, redactSecrets: true },
};

export const workspaces = {
  resolve: defineEndpoint({
    name: 'workspacesResolve',
    path: '/control-plane/v1/workspaces/resolve',
    tag: 'Workspaces',
    scopes: [],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    jobToken: 'always',
    summary: 'Resolve a workspace by its slug',
    description:
      'Both fields are null if no workspace has the slug, or if the caller has no access to it. ' +
      'The two cases look the same, and neither is an error.',
    // Any string is accepted: one that cannot be a slug is an unknown slug.
    request: Type.Object({ slug: Text(255) }),
    response: Ok({ workspaceId: Nullable(Id('workspace')), workspace: Nullable(Workspace) }),
    example: {
      request: { slug: 'acme' },
      response: { ok: true, workspaceId: exampleIds.workspace, workspace: exampleWorkspace },
    },
  }),
} as const;
