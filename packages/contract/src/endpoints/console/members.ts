import Type, { type Static } from 'typebox';
import {
  Cursor,
  Defaulted,
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
import { defineConsoleEndpoint } from './fields.ts';
import { examplePerson, workspaceRoles } from './session.ts';

/** A person as a member of one workspace. */
export const Member = Type.Object({
  personId: Id('person'),
  email: Text(320),
  name: Text(200),
  role: OneOf(workspaceRoles),
  joinedAt: Timestamp(),
  absentUntil: Nullable(Timestamp('Until when the person is out of office. Null: they are not.')),
});
export type Member = Static<typeof Member>;

const exampleMember: Member = {
  ...examplePerson,
  role: 'admin',
  joinedAt: '2026-11-02T09:00:00.000Z',
  absentUntil: null,
};
/** Service tokens of one member that an answer lists; all of them are revoked or kept alike. */
export const SERVICE_TOKENS_LISTED_MAX = 1_000;

/** For calls after which a member may mint no service tokens any more. */
const revocation = {
  revokeServiceTokens: Defaulted(
    Type.Boolean({
      description: 'Whether the service tokens that the member minted in this workspace end, too.',
    }),
    true,
  ),
};
const MintedTokens = List(
  Type.Object({
    tokenId: Id('token'),
    name: Text(200),
    revoked: Type.Boolean({ description: 'False if revokeServiceTokens was false.' }),
  }),
  SERVICE_TOKENS_LISTED_MAX,
);
const exampleTokens = [{ tokenId: 'tok_1j78s1e80003qjivc1p2', name: 'ci', revoked: true }];
const memberRef = { workspaceId: Id('workspace'), personId: Id('person') };
const exampleRef = { workspaceId: exampleIds.workspace, personId: examplePerson.personId };

export const members = {
  list: defineConsoleEndpoint({
    name: 'consoleMemberList',
    path: '/console-api/v1/members/list',
    repeat: 'safe',
    summary: 'List the members of a workspace',
    description: 'For all members. Ordered by the creation of their accounts.',
    request: Type.Object({ workspaceId: Id('workspace'), limit: ListLimit, cursor: Cursor }),
    response: Ok({ members: List(Member, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, members: [exampleMember], nextCursor: null },
    },
  }),
  changeRole: defineConsoleEndpoint({
    name: 'consoleMemberChangeRole',
    path: '/console-api/v1/members/change-role',
    repeat: 'once',
    summary: "Change a member's role",
    description:
      'Owners may change all roles. Admins may change all but owners, and not to owner. The last ' +
      'owner keeps the role (LAST_OWNER). Open invitations of the member that the new role could ' +
      'not create end. Their machines get the permissions of the new role: on this hub at once, ' +
      'on other hubs within 1 s. If the new role may not mint service tokens, the answer lists ' +
      'those that the member minted; they are revoked unless revokeServiceTokens is false.',
    request: Type.Object({ ...memberRef, role: OneOf(workspaceRoles), ...revocation }),
    response: Ok({ member: Member, serviceTokens: MintedTokens }),
    errors: ['MEMBER_NOT_FOUND', 'LAST_OWNER'],
    example: {
      request: { ...exampleRef, role: 'admin' },
      response: { ok: true, member: exampleMember, serviceTokens: [] },
    },
  }),
  remove: defineConsoleEndpoint({
    name: 'consoleMemberRemove',
    path: '/console-api/v1/members/remove',
    repeat: 'once',
    summary: 'Remove a member',
    description:
      "For those who may change the member's role. The member's device tokens in this workspace " +
      'are revoked and their open invitations end. The answer lists the service tokens that they ' +
      'minted; these are revoked unless revokeServiceTokens is false. Their account and other ' +
      'workspaces stay.',
    request: Type.Object({ ...memberRef, ...revocation }),
    response: Ok({
      removed: Type.Unsafe<true>({ type: 'boolean', const: true }),
      serviceTokens: MintedTokens,
    }),
    errors: ['MEMBER_NOT_FOUND', 'LAST_OWNER'],
    example: {
      request: exampleRef,
      response: { ok: true, removed: true, serviceTokens: exampleTokens },
    },
  }),
  leave: defineConsoleEndpoint({
    name: 'consoleMemberLeave',
    path: '/console-api/v1/members/leave',
    repeat: 'once',
    summary: 'Leave a workspace',
    description: 'Has the same effect as being removed. The last owner cannot leave (LAST_OWNER).',
    request: Type.Object({ workspaceId: Id('workspace'), ...revocation }),
    response: Ok({
      left: Type.Unsafe<true>({ type: 'boolean', const: true }),
      serviceTokens: MintedTokens,
    }),
    errors: ['LAST_OWNER'],
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, left: true, serviceTokens: exampleTokens },
    },
  }),
} as const;
