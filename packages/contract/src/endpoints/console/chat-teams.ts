import Type, { type Static } from 'typebox';
import { Defaulted, Id, List, Nullable, Ok, OneOf, Text, Timestamp } from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { defineConsoleEndpoint } from './fields.ts';

/** The maximum of chat teams of a workspace, with those that wait for their proof. */
export const CHAT_TEAMS_MAX = 50;
/** How long a workspace may prove that a team belongs to it. */
export const CHAT_TEAM_PROOF_MS = 24 * 60 * 60 * 1_000;
/** Precedes the code in the message that proves a team. */
export const CHAT_TEAM_CODE_PREFIX = 'signalbox-';

export const ChatTeamId = Text(100, {
  minLength: 1,
  pattern: '^[A-Z0-9]+$',
  description: "The chat's id of the team, such as T024BE7LD.",
});

/** A chat team whose messages go to a workspace. */
export const ChatTeam = Type.Object({
  teamId: ChatTeamId,
  name: Text(200, { description: 'A name for people.' }),
  createdBy: Text(200),
  createdAt: Timestamp(),
  status: OneOf(['mapped', 'waiting'], {
    description: 'waiting: no message comes to the workspace until the team has sent the code.',
  }),
  confirmation: Nullable(
    Type.Object(
      {
        code: Text(40, { description: 'Such as signalbox-BCDF-GHJK.' }),
        expiresAt: Timestamp(),
      },
      { description: 'The proof that a waiting team is to send; null when it is mapped.' },
    ),
  ),
});
export type ChatTeam = Static<typeof ChatTeam>;

const exampleTeam: ChatTeam = {
  teamId: 'T024BE7LD',
  name: 'Acme',
  createdBy: 'usr_1j78s18g0003qjivc1o9',
  createdAt: '2026-11-02T09:00:00.000Z',
  status: 'mapped',
  confirmation: null,
};
const waitingTeam: ChatTeam = {
  ...exampleTeam,
  status: 'waiting',
  confirmation: { code: 'signalbox-BCDF-GHJK', expiresAt: '2026-11-03T09:00:00.000Z' },
};

export const chatTeams = {
  put: defineConsoleEndpoint({
    name: 'consoleChatTeamPut',
    path: '/console-api/v1/chat-teams/put',
    repeat: 'once',
    summary: "Send a chat team's messages to a workspace",
    description:
      'For owners and admins. The team waits until a person of it posts the code of the answer ' +
      'where the app reads messages, within 24 hours; the signed message proves that the team ' +
      'agrees. A team belongs to one workspace at a time and stays there until it is removed. ' +
      'For a team of this workspace, the call changes the name. Earlier messages are not fetched.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      teamId: ChatTeamId,
      name: Defaulted(Text(200), ''),
    }),
    response: Ok({ chatTeam: ChatTeam }),
    example: {
      request: { workspaceId: exampleIds.workspace, teamId: exampleTeam.teamId, name: 'Acme' },
      response: { ok: true, chatTeam: waitingTeam },
    },
  }),
  list: defineConsoleEndpoint({
    name: 'consoleChatTeamList',
    path: '/console-api/v1/chat-teams/list',
    repeat: 'safe',
    summary: 'List the chat teams of a workspace',
    description: 'For owners and admins. Ordered by the id of the team; those that wait come last.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({ chatTeams: List(ChatTeam, CHAT_TEAMS_MAX) }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, chatTeams: [exampleTeam] },
    },
  }),
  remove: defineConsoleEndpoint({
    name: 'consoleChatTeamRemove',
    path: '/console-api/v1/chat-teams/remove',
    repeat: 'once',
    summary: 'Remove a chat team from a workspace',
    description: 'For owners and admins. Items from its messages stay. Later messages are ignored.',
    request: Type.Object({ workspaceId: Id('workspace'), teamId: ChatTeamId }),
    response: Ok({
      removed: Type.Boolean({ description: 'False if the workspace did not have the team.' }),
    }),
    example: {
      request: { workspaceId: exampleIds.workspace, teamId: exampleTeam.teamId },
      response: { ok: true, removed: true },
    },
  }),
} as const;
