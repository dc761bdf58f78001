import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Id, Integer, Nullable, Ok, OneOf, Text } from '../schema.ts';
import { consoleRow, NewPassword, PASSWORD_CHARS_MAX, PersonName } from './console-fields.ts';
import { examplePerson, Membership, Person, workspaceRoles } from './console-session.ts';
import { exampleIds, exampleWorkspace, Workspace, WorkspaceSlug } from './workspaces.ts';

const WorkspaceName = Text(200, { minLength: 1 });

/** What a person changes of a data policy; absent fields stay as they are. */
export const DataPolicyChange = Type.Object({
  contentStorage: Type.Optional(OneOf(['full', 'excerpt', 'metadata'])),
  retentionDays: Type.Optional(
    Nullable(Integer(1, 36_500, 'Null keeps content until it is deleted.')),
  ),
  redactSecrets: Type.Optional(Type.Boolean()),
});
export type DataPolicyChange = Static<typeof DataPolicyChange>;

const exampleMembership: Membership = {
  workspaceId: exampleIds.workspace,
  slug: 'acme',
  name: 'Acme',
  role: 'owner',
};

export const workspaceSettings = {
  create: defineEndpoint({
    ...consoleRow,
    name: 'consoleWorkspaceCreate',
    path: '/console-api/v1/workspaces/create',
    auth: 'session',
    summary: 'Make a workspace and own it',
    description: 'Every signed-in person may.',
    request: Type.Object({ slug: WorkspaceSlug, name: WorkspaceName }),
    response: Ok({ workspace: Membership }),
    errors: ['SLUG_TAKEN'],
    example: {
      request: { slug: 'acme', name: 'Acme' },
      response: { ok: true, workspace: exampleMembership },
    },
  }),
  get: defineEndpoint({
    ...consoleRow,
    name: 'consoleWorkspaceGet',
    path: '/console-api/v1/workspaces/get',
    auth: 'session',
    summary: 'Read the settings of a workspace',
    description: 'Every member may.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({ workspace: Workspace, role: OneOf(workspaceRoles) }),
    errors: ['WORKSPACE_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, workspace: exampleWorkspace, role: 'owner' },
    },
  }),
  update: defineEndpoint({
    ...consoleRow,
    name: 'consoleWorkspaceUpdate',
    path: '/console-api/v1/workspaces/update',
    auth: 'session',
    summary: 'Change the settings of a workspace',
    description:
      'For owners and admins. Absent fields stay as they are. A data policy applies to what ' +
      'comes in from now on; retentionDays also to what is there.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      name: Type.Optional(WorkspaceName),
      dataPolicy: Type.Optional(DataPolicyChange),
    }),
    response: Ok({ workspace: Workspace }),
    errors: ['WORKSPACE_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { workspaceId: exampleIds.workspace, dataPolicy: { retentionDays: 90 } },
      response: {
        ok: true,
        workspace: {
          ...exampleWorkspace,
          dataPolicy: { ...exampleWorkspace.dataPolicy, retentionDays: 90 },
        },
      },
    },
  }),
} as const;

export const account = {
  update: defineEndpoint({
    ...consoleRow,
    name: 'consoleAccountUpdate',
    path: '/console-api/v1/account/update',
    auth: 'session',
    summary: "Change a person's own name",
    description: 'Everywhere at once, since the name stands in one place.',
    request: Type.Object({ name: PersonName }),
    response: Ok({ person: Person }),
    errors: [],
    example: {
      request: { name: examplePerson.name },
      response: { ok: true, person: examplePerson },
    },
  }),
  changePassword: defineEndpoint({
    ...consoleRow,
    name: 'consoleAccountChangePassword',
    path: '/console-api/v1/account/change-password',
    auth: 'session',
    summary: "Change a person's own password",
    description:
      'Takes the present one (wrong: SIGN_IN_FAILED). All other console sessions of the person ' +
      'end; her machines stay logged in. A common password is INVALID_REQUEST with path ' +
      '/newPassword.',
    request: Type.Object({
      password: Text(PASSWORD_CHARS_MAX, { minLength: 1 }),
      newPassword: NewPassword,
    }),
    response: Ok({ sessionsEnded: Integer(0, 1_000_000) }),
    errors: ['SIGN_IN_FAILED'],
    example: {
      request: {
        password: 'correct horse battery staple',
        newPassword: 'nine lanterns over violet harbour',
      },
      response: { ok: true, sessionsEnded: 2 },
    },
  }),
} as const;
