import Type, { type Static } from 'typebox';
import {
  Cursor,
  Id,
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
import { defineConsoleEndpoint, Email, NewPassword, PersonName } from './fields.ts';
import { examplePerson, exampleSessionState, SessionState, workspaceRoles } from './session.ts';

/** The lifetime of an invitation link. */
export const INVITATION_MS = 7 * 24 * 60 * 60 * 1000;

export const Invitation = Type.Object({
  invitationId: Id('invitation'),
  email: Text(320),
  role: OneOf(workspaceRoles),
  invitedBy: Text(200, { description: 'The name of the person, or operator.' }),
  createdAt: Timestamp(),
  expiresAt: Timestamp(),
});
export type Invitation = Static<typeof Invitation>;

/** Whether an invitation link can be used, and if not, why. */
export const invitationLinkStatuses = ['open', 'used', 'revoked', 'expired', 'unknown'] as const;
export type InvitationLinkStatus = (typeof invitationLinkStatuses)[number];

const LinkToken = Text(200, {
  minLength: 1,
  description: 'The token in the fragment of the link.',
});

const exampleInvitation: Invitation = {
  invitationId: 'inv_1j78s1e80003qjivc1p1',
  email: 'grace@acme.dev',
  role: 'member',
  invitedBy: examplePerson.name,
  createdAt: '2026-11-02T09:00:00.000Z',
  expiresAt: '2026-11-09T09:00:00.000Z',
};
const exampleLinkToken = 'kq0Vv9mYc4Yt3o1mJm0o9bXQe7r2nZ5uTq8hWd1sLxA';

export const invitations = {
  create: defineConsoleEndpoint({
    name: 'consoleInvitationCreate',
    path: '/console-api/v1/invitations/create',
    repeat: 'once',
    summary: 'Invite a person to a workspace',
    description:
      'For owners, and for admins to any role but owner. The hub sends no mail: the answer has ' +
      'the link, only this once, and the inviter sends it. The link works once, for 7 days. An ' +
      'open invitation of the same address ends.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      email: Email,
      role: OneOf(workspaceRoles),
    }),
    response: Ok({ invitation: Invitation, invitationUrl: Text(4_096) }),
    errors: ['ALREADY_MEMBER'],
    example: {
      request: { workspaceId: exampleIds.workspace, email: 'grace@acme.dev', role: 'member' },
      response: {
        ok: true,
        invitation: exampleInvitation,
        invitationUrl: `https://signalbox.acme.dev/invitation#token=${exampleLinkToken}`,
      },
    },
  }),
  list: defineConsoleEndpoint({
    name: 'consoleInvitationList',
    path: '/console-api/v1/invitations/list',
    repeat: 'safe',
    summary: 'List the open invitations of a workspace',
    description: 'For owners and admins. Newest first, without used, revoked and expired ones.',
    request: Type.Object({ workspaceId: Id('workspace'), limit: ListLimit, cursor: Cursor }),
    response: Ok({ invitations: List(Invitation, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, invitations: [exampleInvitation], nextCursor: null },
    },
  }),
  revoke: defineConsoleEndpoint({
    name: 'consoleInvitationRevoke',
    path: '/console-api/v1/invitations/revoke',
    repeat: 'safe',
    summary: 'Revoke an open invitation',
    description: 'For those who may invite to its role. The link becomes invalid.',
    request: Type.Object({ workspaceId: Id('workspace'), invitationId: Id('invitation') }),
    response: Ok({ revoked: Type.Unsafe<true>({ type: 'boolean', const: true }) }),
    errors: ['INVITATION_NOT_FOUND'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        invitationId: exampleInvitation.invitationId,
      },
      response: { ok: true, revoked: true },
    },
  }),
  check: defineConsoleEndpoint({
    name: 'consoleInvitationCheck',
    path: '/console-api/v1/invitations/check',
    auth: 'none',
    repeat: 'once',
    summary: 'Check an invitation link',
    description:
      'Does not use up the link. invitation is null unless the status is open. The token is ' +
      'in the body, so that no log contains it.',
    request: Type.Object({ linkToken: LinkToken }),
    response: Ok({
      status: OneOf(invitationLinkStatuses, {
        description:
          'open; used: it was accepted; revoked: it was revoked, or replaced by a newer link for ' +
          'the address; expired: older than 7 days; unknown: no such link.',
      }),
      invitation: Nullable(
        Type.Object({
          workspaceName: Text(200),
          email: Text(320),
          role: OneOf(workspaceRoles),
          invitedBy: Text(200),
          expiresAt: Timestamp(),
          accountExists: Type.Boolean({
            description:
              'True for a person who is signed in with the address. False says nothing: the ' +
              'address may have an account, which its password proves.',
          }),
        }),
      ),
    }),
    example: {
      request: { linkToken: exampleLinkToken },
      response: {
        ok: true,
        status: 'open',
        invitation: {
          workspaceName: 'Acme',
          email: exampleInvitation.email,
          role: exampleInvitation.role,
          invitedBy: exampleInvitation.invitedBy,
          expiresAt: exampleInvitation.expiresAt,
          accountExists: false,
        },
      },
    },
  }),
  accept: defineConsoleEndpoint({
    name: 'consoleInvitationAccept',
    path: '/console-api/v1/invitations/accept',
    auth: 'none',
    repeat: 'once',
    summary: 'Accept an invitation',
    description:
      'Uses up the link. A person signed in with the invited address sends only the token; others ' +
      'get SESSION_REQUIRED for that. A person with an account sends its password alone; a wrong ' +
      'one is SIGN_IN_FAILED. A person without one sends a name and a new password; a common ' +
      'password is INVALID_REQUEST, and that of an account of the address is EMAIL_TAKEN. An ' +
      'address may have several accounts, each with its own password, since invitations of ' +
      'different workspaces prove nothing to each other. ' +
      'Account, membership, session and the end of the link are one transaction.',
    request: Type.Object({
      linkToken: LinkToken,
      name: Type.Optional(PersonName),
      password: Type.Optional(NewPassword),
    }),
    response: Type.Object({ ...SessionState.properties, workspaceId: Id('workspace') }),
    errors: [
      'INVITATION_LINK_INVALID',
      'ALREADY_MEMBER',
      'SESSION_REQUIRED',
      'SIGN_IN_FAILED',
      'EMAIL_TAKEN',
    ],
    example: {
      request: {
        linkToken: exampleLinkToken,
        name: 'Grace Hopper',
        password: 'correct horse battery staple',
      },
      response: { ...exampleSessionState, workspaceId: exampleIds.workspace },
    },
  }),
} as const;
