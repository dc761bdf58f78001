import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../../endpoint.ts';
import { Defaulted, Id, List, Ok, Text, Timestamp } from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { consoleRow } from './fields.ts';

/** The maximum of chat teams of a workspace. */
export const CHAT_TEAMS_MAX = 50;

const TeamId = Text(100, {
  minLength: 1,
  pattern: '^[A-Z0-9]+$',
  description: "The chat's id of the team, such as T024BE7LD.",
});

/** A chat team whose messages go to a workspace. */
export const ChatTeam = Type.Object({
  teamId: TeamId,
  name: Text(200, { description: 'A name for people.' }),
  createdBy: Text(200),
  createdAt: Timestamp(),
});
export type ChatTeam = Static<typeof ChatTeam>;

const exampleTeam: ChatTeam = {
  teamId: 'T024BE7LD',
  name: 'Acme',
  createdBy: 'usr_0199d1c0a2007000a1b2c3d4e5f60709',
  createdAt: '2026-11-02T09:00:00.000Z',
};

export const chatTeams = {
  put: defineEndpoint({
    ...consoleRow,
    name: 'consoleChatTeamPut',
    path: '/console-api/v1/chat-teams/put',
    auth: 'session',
    repeat: 'once',
    summary: "Send a chat team's messages to a workspace",
    description:
      'For owners and admins. A team belongs to one workspace at a time. If it belongs to ' +
      'another, the call is INVALID_REQUEST. Earlier messages are not fetched.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      teamId: TeamId,
      name: Defaulted(Text(200), ''),
    }),
    response: Ok({ chatTeam: ChatTeam }),
    errors: ['WORKSPACE_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { workspaceId: exampleIds.workspace, teamId: exampleTeam.teamId, name: 'Acme' },
      response: { ok: true, chatTeam: exampleTeam },
    },
  }),
  list: defineEndpoint({
    ...consoleRow,
    name: 'consoleChatTeamList',
    path: '/console-api/v1/chat-teams/list',
    auth: 'session',
    repeat: 'safe',
    summary: 'List the chat teams of a workspace',
    description: 'For owners and admins. Ordered by the id of the team.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({ chatTeams: List(ChatTeam, CHAT_TEAMS_MAX) }),
    errors: ['WORKSPACE_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, chatTeams: [exampleTeam] },
    },
  }),
  remove: defineEndpoint({
    ...consoleRow,
    name: 'consoleChatTeamRemove',
    path: '/console-api/v1/chat-teams/remove',
    auth: 'session',
    repeat: 'once',
    summary: 'Remove a chat team from a workspace',
    description: 'For owners and admins. Items from its messages stay. Later messages are ignored.',
    request: Type.Object({ workspaceId: Id('workspace'), teamId: TeamId }),
    response: Ok({
      removed: Type.Boolean({ description: 'False if the workspace did not have the team.' }),
    }),
    errors: ['WORKSPACE_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { workspaceId: exampleIds.workspace, teamId: exampleTeam.teamId },
      response: { ok: true, removed: true },
    },
  }),
} as const;
