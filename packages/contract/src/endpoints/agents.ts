import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Cursor,
  Defaulted,
  Id,
  Integer,
  Labels,
  List,
  ListLimit,
  NextCursor,
  Nullable,
  Ok,
  OneOf,
  Text,
  Timestamp,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';

/** The interval between two heartbeats of an agent. */
export const AGENT_HEARTBEAT_INTERVAL_MS = 15_000;
/** After this much silence, three heartbeats, an agent shows as offline. */
export const AGENT_OFFLINE_AFTER_MS = 45_000;

/** The known keys. The hub keeps and returns unknown keys unchanged. */
export const AgentCapabilities = Type.Object({
  executionModes: Type.Optional(
    List(
      Text(64),
      20,
      'Such as cli or hybrid. The agent gets jobs that require one of these modes.',
    ),
  ),
  models: Type.Optional(List(Text(128), 200, 'Model identifiers that the agent can run.')),
  canWrite: Type.Optional(
    Type.Boolean({
      description: 'Whether the agent may change its repositories. If absent, false.',
    }),
  ),
  canUseNetwork: Type.Optional(Type.Boolean()),
  reposAllowed: Type.Optional(
    List(
      Id('repository'),
      1_000,
      'The repositories that the agent serves. If absent, those that its token has resolved, ' +
        'read or upserted. An empty list serves none.',
    ),
  ),
  labels: Type.Optional(Labels('Such as {"os": "linux"}.')),
  maxConcurrentJobs: Type.Optional(
    Integer(1, 1_000, 'How many jobs the agent holds at a time. If absent, there is no limit.'),
  ),
});
export type AgentCapabilities = Static<typeof AgentCapabilities>;

/** An order to an agent. The hub sends it in answers to heartbeats. */
export const AgentCommand = Type.Object({
  command: OneOf(['drain', 'resume', 'cancel-job']),
  jobId: Type.Optional(Id('job')),
});
export type AgentCommand = Static<typeof AgentCommand>;

export const Agent = Type.Object({
  agentId: Id('agent'),
  workspaceId: Id('workspace'),
  displayName: Text(200),
  machineFingerprint: Text(200),
  status: OneOf(['online', 'draining', 'offline']),
  capabilities: AgentCapabilities,
  agentVersion: Nullable(Text(64)),
  platform: Nullable(Text(64)),
  arch: Nullable(Text(64)),
  lastSeenAt: Timestamp(),
  createdAt: Timestamp(),
});
export type Agent = Static<typeof Agent>;

const exampleCapabilities = {
  executionModes: ['cli'],
  models: ['claude-sonnet-5'],
  canWrite: true,
  maxConcurrentJobs: 2,
  labels: { os: 'linux' },
};

export const agents = {
  heartbeat: defineEndpoint({
    name: 'agentsHeartbeat',
    method: 'POST',
    path: '/control-plane/v2/agents/heartbeat',
    tag: 'Agents',
    auth: 'bearer',
    scopes: ['agent'],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    jobToken: 'none',
    summary: 'Register an agent or renew its presence',
    description:
      'There is one agent for each workspace, principal and machineFingerprint. Send a heartbeat ' +
      'every intervalMs. After 45 s of silence the agent shows as offline and gets no jobs. With ' +
      'status draining, the agent gets no new jobs and finishes those that it holds.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      machineFingerprint: Text(200, { minLength: 1, description: 'Identifies the machine.' }),
      displayName: Defaulted(Text(200), ''),
      status: Defaulted(OneOf(['online', 'draining', 'offline']), 'online'),
      capabilities: Defaulted(AgentCapabilities, {}),
      agentVersion: Type.Optional(Text(64)),
      platform: Type.Optional(Text(64)),
      arch: Type.Optional(Text(64)),
    }),
    response: Ok({
      agentId: Id('agent'),
      intervalMs: Integer(0, 3_600_000),
      commands: List(AgentCommand, 1_000),
    }),
    errors: ['WORKSPACE_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        displayName: 'build-7',
        machineFingerprint: '7d2c9d1e5f',
        status: 'online',
        capabilities: exampleCapabilities,
      },
      response: {
        ok: true,
        agentId: exampleIds.agent,
        intervalMs: AGENT_HEARTBEAT_INTERVAL_MS,
        commands: [],
      },
    },
  }),
  list: defineEndpoint({
    name: 'agentsList',
    method: 'POST',
    path: '/control-plane/v1/agents/list',
    tag: 'Agents',
    auth: 'bearer',
    scopes: ['read', 'agent'],
    origin: 'extension',
    console: true,
    repeat: 'safe',
    jobToken: 'none',
    summary: 'List the agents of a workspace',
    description: 'Newest first.',
    request: Type.Object({ workspaceId: Id('workspace'), limit: ListLimit, cursor: Cursor }),
    response: Ok({ agents: List(Agent, 200), nextCursor: NextCursor }),
    errors: ['WORKSPACE_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: {
        ok: true,
        agents: [
          {
            agentId: exampleIds.agent,
            workspaceId: exampleIds.workspace,
            displayName: 'build-7',
            machineFingerprint: '7d2c9d1e5f',
            status: 'online',
            capabilities: exampleCapabilities,
            agentVersion: '0.1.0',
            platform: 'linux',
            arch: 'x64',
            lastSeenAt: '2026-11-02T09:00:15.000Z',
            createdAt: '2026-11-02T09:00:00.000Z',
          },
        ],
        nextCursor: null,
      },
    },
  }),
} as const;
