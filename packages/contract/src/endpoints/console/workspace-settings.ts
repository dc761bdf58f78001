import Type, { type Static } from 'typebox';
import { Id, Integer, Nullable, Ok, OneOf, Text } from '../../schema.ts';
import { ModelName } from '../cloud-ai-jobs.ts';
import { exampleIds } from '../example-ids.ts';
import { DataPolicy, exampleWorkspace, Workspace, WorkspaceSlug } from '../workspaces.ts';
import { defineConsoleEndpoint } from './fields.ts';
import { Membership, workspaceRoles } from './session.ts';

const WorkspaceName = Text(200, { minLength: 1 });

/** The cloud AI jobs that the hub enqueues by itself. An executor must run them. */
export const CloudAiSettings = Type.Object({
  summarizeSources: Type.Boolean({ description: 'Whether long ingested items get a summary.' }),
  draftDecisionAnswers: Type.Boolean({
    description: 'Whether decision requests get a drafted answer.',
  }),
  model: Nullable(ModelName),
});
export type CloudAiSettings = Static<typeof CloudAiSettings>;

/** The maximum of `askOwnersAfterMinutes`: a message is given up a day after its question. */
export const ASK_OWNERS_MINUTES_MAX = 720;

/** Who is told of questions that wait. */
export const AttentionSettings = Type.Object({
  askOwnersAfterMinutes: Integer(
    0,
    ASK_OWNERS_MINUTES_MAX,
    'Minutes without an answer after which the owners are told of a question too. 0: never.',
  ),
});
export type AttentionSettings = Static<typeof AttentionSettings>;

const exampleAttention: AttentionSettings = { askOwnersAfterMinutes: 15 };
const exampleCloudAi: CloudAiSettings = {
  summarizeSources: true,
  draftDecisionAnswers: false,
  model: null,
};
const exampleMembership: Membership = {
  workspaceId: exampleIds.workspace,
  slug: 'acme',
  name: 'Acme',
  role: 'owner',
  changesAfter: '8c1fe2a94b07-0',
};

export const workspaceSettings = {
  create: defineConsoleEndpoint({
    name: 'consoleWorkspaceCreate',
    path: '/console-api/v1/workspaces/create',
    repeat: 'once',
    summary: 'Create a workspace and become its owner',
    description:
      'For owners and admins of a workspace; SVC_WORKSPACE_CREATION allows all people, or none.',
    request: Type.Object({ slug: WorkspaceSlug, name: WorkspaceName }),
    response: Ok({ workspace: Membership }),
    errors: ['SLUG_TAKEN'],
    example: {
      request: { slug: 'acme', name: 'Acme' },
      response: { ok: true, workspace: exampleMembership },
    },
  }),
  get: defineConsoleEndpoint({
    name: 'consoleWorkspaceGet',
    path: '/console-api/v1/workspaces/get',
    repeat: 'safe',
    summary: 'Read the settings of a workspace',
    description: 'For all members.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({
      workspace: Workspace,
      cloudAi: CloudAiSettings,
      attention: AttentionSettings,
      role: OneOf(workspaceRoles),
    }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: {
        ok: true,
        workspace: exampleWorkspace,
        cloudAi: exampleCloudAi,
        attention: exampleAttention,
        role: 'owner',
      },
    },
  }),
  update: defineConsoleEndpoint({
    name: 'consoleWorkspaceUpdate',
    path: '/console-api/v1/workspaces/update',
    repeat: 'once',
    summary: 'Change the settings of a workspace',
    description:
      'For owners and admins. Absent fields do not change. A data policy applies to content that ' +
      'arrives from now on; retentionDays applies to stored content too.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      name: Type.Optional(WorkspaceName),
      dataPolicy: Type.Optional(Type.Partial(DataPolicy)),
      cloudAi: Type.Optional(Type.Partial(CloudAiSettings)),
      attention: Type.Optional(Type.Partial(AttentionSettings)),
    }),
    response: Ok({
      workspace: Workspace,
      cloudAi: CloudAiSettings,
      attention: AttentionSettings,
    }),
    example: {
      request: { workspaceId: exampleIds.workspace, dataPolicy: { retentionDays: 90 } },
      response: {
        ok: true,
        workspace: {
          ...exampleWorkspace,
          dataPolicy: { ...exampleWorkspace.dataPolicy, retentionDays: 90 },
        },
        cloudAi: exampleCloudAi,
        attention: exampleAttention,
      },
    },
  }),
} as const;
