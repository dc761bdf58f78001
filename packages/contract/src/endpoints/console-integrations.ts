import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Defaulted, Id, List, Nullable, Ok, OneOf, Text, Timestamp } from '../schema.ts';
import { consoleRow } from './console-fields.ts';
import { Priority } from './jobs.ts';
import {
  CronPattern,
  exampleTrigger,
  HOURLY_CAP_DEFAULT,
  HourlyCap,
  PromptTemplate,
  RunRefTemplate,
  TimeZone,
  TitleTemplate,
  Trigger,
  TriggerMatch,
  triggerTypes,
} from './triggers.ts';
import { exampleIds } from './workspaces.ts';

/** Teams of a chat that one workspace may be given. */
export const CHAT_TEAMS_MAX = 50;

const TriggerName = Text(200, { minLength: 1 });
const triggerRef = { workspaceId: Id('workspace'), triggerId: Id('trigger') };
const exampleRef = { workspaceId: exampleIds.workspace, triggerId: exampleTrigger.triggerId };

const changeableFields = {
  name: Type.Optional(TriggerName),
  match: Type.Optional(TriggerMatch),
  cron: Type.Optional(CronPattern),
  timeZone: Type.Optional(TimeZone),
  repoId: Type.Optional(Id('repository')),
  runRefTemplate: Type.Optional(RunRefTemplate),
  titleTemplate: Type.Optional(Nullable(TitleTemplate)),
  promptTemplate: Type.Optional(PromptTemplate),
} as const;

const changed = { trigger: Trigger } as const;

export const triggerSettings = {
  create: defineEndpoint({
    ...consoleRow,
    name: 'consoleTriggerCreate',
    path: '/console-api/v1/triggers/create',
    auth: 'session',
    repeat: 'once',
    summary: 'Make a trigger',
    description:
      'For owners and admins. Type event takes match, type schedule takes cron and timeZone (UTC ' +
      'when absent), and neither the other. A workspace has at most 100.',
    request: Type.Object({
      ...changeableFields,
      workspaceId: Id('workspace'),
      name: TriggerName,
      type: OneOf(triggerTypes),
      repoId: Id('repository'),
      runRefTemplate: RunRefTemplate,
      promptTemplate: PromptTemplate,
      priority: Defaulted(Priority, 0),
      hourlyCap: Defaulted(HourlyCap, HOURLY_CAP_DEFAULT),
      enabled: Defaulted(Type.Boolean(), true),
    }),
    response: Ok(changed),
    errors: ['WORKSPACE_NOT_FOUND', 'REPO_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        name: exampleTrigger.name,
        type: 'event',
        match: { source: 'tracker', type: 'issue.opened' },
        repoId: exampleIds.repository,
        runRefTemplate: exampleTrigger.runRefTemplate,
        promptTemplate: exampleTrigger.promptTemplate,
      },
      response: { ok: true, trigger: exampleTrigger },
    },
  }),
  update: defineEndpoint({
    ...consoleRow,
    name: 'consoleTriggerUpdate',
    path: '/console-api/v1/triggers/update',
    auth: 'session',
    repeat: 'once',
    summary: 'Change a trigger',
    description:
      'For owners and admins. Absent fields stay as they are; the type never changes. A schedule ' +
      'goes on from now.',
    request: Type.Object({
      ...changeableFields,
      ...triggerRef,
      priority: Type.Optional(Priority),
      hourlyCap: Type.Optional(HourlyCap),
    }),
    response: Ok(changed),
    errors: ['WORKSPACE_NOT_FOUND', 'TRIGGER_NOT_FOUND', 'REPO_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { ...exampleRef, hourlyCap: 10 },
      response: { ok: true, trigger: { ...exampleTrigger, hourlyCap: 10 } },
    },
  }),
  enable: defineEndpoint({
    ...consoleRow,
    name: 'consoleTriggerEnable',
    path: '/console-api/v1/triggers/enable',
    auth: 'session',
    repeat: 'once',
    summary: 'Enable a trigger',
    description: 'For owners and admins. A schedule fires at its next slot from now.',
    request: Type.Object(triggerRef),
    response: Ok(changed),
    errors: ['WORKSPACE_NOT_FOUND', 'TRIGGER_NOT_FOUND', 'NOT_ALLOWED'],
    example: { request: exampleRef, response: { ok: true, trigger: exampleTrigger } },
  }),
  disable: defineEndpoint({
    ...consoleRow,
    name: 'consoleTriggerDisable',
    path: '/console-api/v1/triggers/disable',
    auth: 'session',
    repeat: 'once',
    summary: 'Disable a trigger',
    description: 'For owners and admins. It starts nothing until it is enabled again.',
    request: Type.Object(triggerRef),
    response: Ok(changed),
    errors: ['WORKSPACE_NOT_FOUND', 'TRIGGER_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: exampleRef,
      response: { ok: true, trigger: { ...exampleTrigger, enabled: false } },
    },
  }),
  delete: defineEndpoint({
    ...consoleRow,
    name: 'consoleTriggerDelete',
    path: '/console-api/v1/triggers/delete',
    auth: 'session',
    repeat: 'once',
    summary: 'Delete a trigger',
    description: 'For owners and admins. What it started stays, and the ledger goes on naming it.',
    request: Type.Object(triggerRef),
    response: Ok({ deleted: Type.Unsafe<true>({ type: 'boolean', const: true }) }),
    errors: ['WORKSPACE_NOT_FOUND', 'TRIGGER_NOT_FOUND', 'NOT_ALLOWED'],
    example: { request: exampleRef, response: { ok: true, deleted: true } },
  }),
} as const;

const TeamId = Text(100, {
  minLength: 1,
  pattern: '^[A-Z0-9]+$',
  description: "The chat's own id of the team, such as T024BE7LD.",
});

/** Which team of a chat belongs to which workspace. */
export const ChatTeam = Type.Object({
  teamId: TeamId,
  name: Text(200, { description: 'For people to read.' }),
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
      'For owners and admins. A team belongs to one workspace at a time: while another has it, ' +
      'INVALID_REQUEST. Messages from before are not fetched.',
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
    description: 'For owners and admins. By the id of the team.',
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
    summary: 'Take a chat team from a workspace',
    description: 'For owners and admins. What its messages brought stays; later ones are ignored.',
    request: Type.Object({ workspaceId: Id('workspace'), teamId: TeamId }),
    response: Ok({ removed: Type.Boolean({ description: 'false: it was not there.' }) }),
    errors: ['WORKSPACE_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { workspaceId: exampleIds.workspace, teamId: exampleTeam.teamId },
      response: { ok: true, removed: true },
    },
  }),
} as const;
