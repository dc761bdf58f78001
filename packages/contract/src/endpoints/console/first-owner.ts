import Type from 'typebox';
import { Ok, Text } from '../../schema.ts';
import { WorkspaceSlug } from '../workspaces.ts';
import { defineConsoleEndpoint, Email, NewPassword, PersonName } from './fields.ts';
import { examplePerson, exampleSessionState, SessionState } from './session.ts';

const LinkToken = Text(200, {
  minLength: 1,
  description: 'The token in the fragment of the one-time link. Only the latest link is valid.',
});

export const firstOwner = {
  check: defineConsoleEndpoint({
    name: 'consoleFirstOwnerCheck',
    path: '/console-api/v1/first-owner/check',
    auth: 'none',
    repeat: 'once',
    summary: 'Check whether a first-owner link is valid',
    description: 'Does not use up the link. The token is in the body, so that no log contains it.',
    request: Type.Object({ linkToken: LinkToken }),
    response: Ok({ valid: Type.Boolean() }),
    example: {
      request: { linkToken: 'kq0Vv9mYc4Yt3o1mJm0o9bXQe7r2nZ5uTq8hWd1sLxA' },
      response: { ok: true, valid: true },
    },
  }),
  create: defineConsoleEndpoint({
    name: 'consoleFirstOwnerCreate',
    path: '/console-api/v1/first-owner/create',
    auth: 'none',
    repeat: 'once',
    summary: 'Create the first owner and the first workspace',
    description:
      'Creates the person, the workspace and the ownership and ends the link, in one ' +
      'transaction. Then signs in and sets the session cookie. A common password is ' +
      'INVALID_REQUEST with path /password.',
    request: Type.Object({
      linkToken: LinkToken,
      email: Email,
      name: PersonName,
      password: NewPassword,
      workspaceSlug: WorkspaceSlug,
      workspaceName: Text(200, { minLength: 1 }),
    }),
    response: SessionState,
    errors: ['FIRST_OWNER_LINK_INVALID', 'SLUG_TAKEN', 'EMAIL_TAKEN'],
    example: {
      request: {
        linkToken: 'kq0Vv9mYc4Yt3o1mJm0o9bXQe7r2nZ5uTq8hWd1sLxA',
        email: examplePerson.email,
        name: examplePerson.name,
        password: 'correct horse battery staple',
        workspaceSlug: 'acme',
        workspaceName: 'Acme',
      },
      response: exampleSessionState,
    },
  }),
} as const;
