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
import { TITLE_CHARS_MAX } from './job-schemas.ts';

/** The interval between two heartbeats of an agent. */
export const AGENT_HEARTBEAT_INTERVAL_MS = 15_000;
/** After this much silence, three heartbeats, an agent shows as offline. */
export const AGENT_OFFLINE_AFTER_MS = 45_000;

/** Models of one tool that an agent names. */
export const TOOL_MODELS_MAX = 100;

/** A coding tool that an agent offers, as its person has configured it. */
export const AgentTool = Type.Object({
  name: Text(64, { description: 'Such as claude, codex, or command for any other program.' }),
  version: Type.Optional(Text(100)),
  model: Type.Optional(
    Text(128, { description: 'The model of jobs that ask for none, if known.' }),
  ),
  models: Type.Optional(
    List(
      Text(128),
      TOOL_MODELS_MAX,
      'The models that a job may ask for. Absent: not known, so any; a tool may tell them with ' +
        'its first session only.',
    ),
  ),
  isolation: Type.Optional(
    List(
      Text(64),
      20,
      'The rungs that keep it from the machine: user, tool, wrap. The agent has tried each.',
    ),
  ),
  repoIds: Type.Optional(
    List(Id('repository'), 1_000, 'The repositories it is for. Absent: all that the agent serves.'),
  ),
});
export type AgentTool = Static<typeof AgentTool>;

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
  tools: Type.Optional(
    List(
      AgentTool,
      20,
      'The coding tools of the agent. A job that names a tool needs one of them.',
    ),
  ),
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
  changesOnRequest: Type.Optional(
    List(
      Id('repository'),
      1_000,
      'The repositories of which the agent shares the patch of an ended job when a member asks, ' +
        'by jobs/request-patch.',
    ),
  ),
  labels: Type.Optional(Labels('Such as {"os": "linux"}.')),
  maxConcurrentJobs: Type.Optional(
    Integer(1, 1_000, 'How many jobs the agent holds at a time. If absent, there is no limit.'),
  ),
  paused: Type.Optional(
    Type.Object(
      {
        code: Text(100),
        message: Text(1_000),
        until: Timestamp(),
      },
      {
        description:
          'Why the agent claims nothing until then, such as usage_limit or not_logged_in. Absent ' +
          'while it claims for at least one repository.',
      },
    ),
  ),
  pauses: Type.Optional(
    List(
      Type.Object({
        code: Text(100),
        message: Text(1_000),
        until: Timestamp(),
        tool: Type.Optional(Text(100)),
        model: Type.Optional(Text(200)),
        repoIds: List(Id('repository'), 1_000),
      }),
      50,
      'The accounts that the agent does not use until then: by tool, and by model if only that is ' +
        'limited. Jobs of these repositories wait.',
    ),
  ),
});
export type AgentCapabilities = Static<typeof AgentCapabilities>;

/** The commands that a person sends to an agent. */
export const agentCommandNames = ['drain', 'resume', 'stop', 'stop-now'] as const;
export type AgentCommandName = (typeof agentCommandNames)[number];

/** A stop that the agent has not received after this time expires. */
export const STOP_COMMAND_EXPIRES_MS = 60 * 60_000;

const CommandNumber = Integer(
  1,
  Number.MAX_SAFE_INTEGER,
  'Numbers the commands of one agent, so that the agent can say which one it has obeyed.',
);

/** An order to an agent. The hub sends it in answers to heartbeats, and to claims that wait. */
export const AgentCommand = Type.Object({
  command: OneOf([...agentCommandNames, 'cancel-job', 'share-patch'], {
    description:
      'share-patch: a member asks for the patch of jobId. It is sent with heartbeats until the ' +
      'agent has answered by jobs/share-patch, to agents with changesOnRequest only.',
  }),
  jobId: Type.Optional(Id('job')),
  askedByName: Type.Optional(Text(200, { description: 'With share-patch: who asks.' })),
  number: Type.Optional(CommandNumber),
});
export type AgentCommand = Static<typeof AgentCommand>;

/** The states of a command. A command that has no more effect is no longer shown. */
export const agentCommandStates = [
  'asked',
  'draining',
  'drained',
  'stopping',
  'stopped',
  'expired',
] as const;
export type AgentCommandState = (typeof agentCommandStates)[number];

/** The last command that a person sent to an agent, while it has an effect. */
export const StandingCommand = Type.Object({
  command: OneOf(agentCommandNames),
  number: CommandNumber,
  state: OneOf(agentCommandStates, {
    description:
      'asked: the agent has not received it. draining, stopping: it has, and finishes the jobs ' +
      'that it holds. drained: it holds no job. stopped: its process has ended. expired: it did ' +
      'not receive a stop within an hour.',
  }),
  reason: Nullable(Text(1_000)),
  askedBy: Text(300, { description: 'The principal that sent it.' }),
  askedByName: Text(200),
  askedAt: Timestamp(),
  acknowledgedAt: Nullable(Timestamp('When the agent said that it obeys.')),
  expiresAt: Nullable(Timestamp('When a stop expires that the agent has not received.')),
});
export type StandingCommand = Static<typeof StandingCommand>;

export const agentStatuses = ['online', 'draining', 'offline'] as const;
export type AgentStatus = (typeof agentStatuses)[number];

/** Jobs that an agent shows; `heldCount` counts all of them. */
export const HELD_JOBS_MAX = 20;

const HeldJob = Type.Object({
  jobId: Id('job'),
  title: Text(TITLE_CHARS_MAX),
  startedAt: Nullable(Timestamp()),
});

export const Agent = Type.Object({
  agentId: Id('agent'),
  workspaceId: Id('workspace'),
  displayName: Text(200),
  machineFingerprint: Text(200),
  principalId: Text(300, {
    description: 'Whose token the agent uses: the id of a person, or service: and a name.',
  }),
  status: OneOf(agentStatuses),
  capabilities: AgentCapabilities,
  repoIds: List(Id('repository'), 1_000, 'The repositories that the agent serves.'),
  held: List(HeldJob, HELD_JOBS_MAX, 'The jobs that the agent holds, newest first.'),
  heldCount: Integer(0, 1_000_000, 'The number of jobs and cloud AI jobs that the agent holds.'),
  command: Nullable(StandingCommand),
  agentVersion: Nullable(Text(64)),
  platform: Nullable(Text(64)),
  arch: Nullable(Text(64)),
  lastSeenAt: Timestamp(),
  createdAt: Timestamp(),
});
export type Agent = Static<typeof Agent>;

const exampleCapabilities = {
  executionModes: ['cli'],
  tools: [
    {
      name: 'claude',
      version: '2.1.330',
      model: 'claude-sonnet-5',
      models: ['claude-sonnet-5', 'claude-opus-5'],
    },
  ],
  canWrite: true,
  maxConcurrentJobs: 2,
  labels: { os: 'linux' },
};

const exampleAgent: Agent = {
  agentId: exampleIds.agent,
  workspaceId: exampleIds.workspace,
  displayName: 'build-7',
  machineFingerprint: '7d2c9d1e5f',
  principalId: 'service:ci',
  status: 'online',
  capabilities: exampleCapabilities,
  repoIds: [exampleIds.repository],
  held: [
    { jobId: exampleIds.job, title: 'Add GET /health', startedAt: '2026-11-02T09:00:10.000Z' },
  ],
  heldCount: 1,
  command: null,
  agentVersion: '0.1.0',
  platform: 'linux',
  arch: 'x64',
  lastSeenAt: '2026-11-02T09:00:15.000Z',
  createdAt: '2026-11-02T09:00:00.000Z',
};

const AgentCount = Integer(0, 1_000_000);

/** The fields of a heartbeat, beside the workspace. */
export const heartbeatFields = {
  machineFingerprint: Text(200, { minLength: 1, description: 'Identifies the machine.' }),
  displayName: Defaulted(Text(200), ''),
  status: Defaulted(OneOf(agentStatuses), 'online'),
  capabilities: Defaulted(AgentCapabilities, {}),
  agentVersion: Type.Optional(Text(64)),
  platform: Type.Optional(Text(64)),
  arch: Type.Optional(Text(64)),
  commandNumber: Type.Optional(
    Integer(
      1,
      Number.MAX_SAFE_INTEGER,
      'The number of the last command that this process of the agent has obeyed.',
    ),
  ),
} as const;

/** Answers of the hub to a heartbeat. */
export const heartbeatAnswer = {
  agentId: Id('agent'),
  intervalMs: Integer(0, 3_600_000, 'When to send the next heartbeat.'),
} as const;

export const agents = {
  heartbeat: defineEndpoint({
    name: 'agentsHeartbeat',
    path: '/control-plane/v2/agents/heartbeat',
    tag: 'Agents',
    scopes: ['agent'],
    origin: 'specification',
    console: false,
    repeat: 'safe',
    summary: 'Register an agent or renew its presence',
    description:
      'There is one agent for each workspace, principal and machineFingerprint. Send a heartbeat ' +
      'every intervalMs. After 45 s of silence the agent shows as offline and gets no jobs. With ' +
      'status draining, the agent gets no new jobs and finishes those that it holds.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      ...heartbeatFields,
    }),
    response: Ok({
      ...heartbeatAnswer,
      commands: List(AgentCommand, 1_000),
    }),
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
    path: '/control-plane/v1/agents/list',
    tag: 'Agents',
    scopes: ['read', 'agent'],
    console: true,
    repeat: 'safe',
    summary: 'List the agents of a workspace',
    description:
      'Newest first. The optional fields are filters. counts has the number of agents in each ' +
      'status, without the filters.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      statuses: Type.Optional(List(OneOf(agentStatuses), agentStatuses.length)),
      repoId: Type.Optional(Id('repository', 'Agents that serve this repository.')),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({
      agents: List(Agent, 200),
      counts: Type.Object({ online: AgentCount, draining: AgentCount, offline: AgentCount }),
      nextCursor: NextCursor,
    }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: {
        ok: true,
        agents: [exampleAgent],
        counts: { online: 1, draining: 0, offline: 0 },
        nextCursor: null,
      },
    },
  }),
  get: defineEndpoint({
    name: 'agentsGet',
    path: '/control-plane/v1/agents/get',
    tag: 'Agents',
    scopes: ['read', 'agent'],
    console: true,
    repeat: 'safe',
    summary: 'Read an agent',
    description: 'Finds the agent by its id, with the jobs that it holds.',
    request: Type.Object({ workspaceId: Id('workspace'), agentId: Id('agent') }),
    response: Ok({ agent: Agent }),
    errors: ['AGENT_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, agentId: exampleIds.agent },
      response: { ok: true, agent: exampleAgent },
    },
  }),
  command: defineEndpoint({
    name: 'agentsCommand',
    path: '/control-plane/v1/agents/command',
    tag: 'Agents',
    scopes: ['enqueue'],
    console: true,
    repeat: 'safe',
    summary: 'Drain, resume or stop an agent',
    description:
      'For people. drain: the agent gets no more jobs and finishes those that it holds, until ' +
      'resume. stop: the same, and then its process ends. stop-now: it gives its jobs back to ' +
      'the queue and its process ends. The hub keeps the last command and sends it until the ' +
      'agent has obeyed. A stop that the agent has not received after an hour expires. To stop ' +
      'the agent of another principal takes an owner or admin. Audited.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      agentId: Id('agent'),
      command: OneOf(agentCommandNames),
      reason: Type.Optional(Text(1_000)),
    }),
    response: Ok({ agent: Agent }),
    errors: ['AGENT_NOT_FOUND', 'AGENT_STOPPING'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        agentId: exampleIds.agent,
        command: 'drain',
        reason: 'New memory on Monday.',
      },
      response: {
        ok: true,
        agent: {
          ...exampleAgent,
          status: 'draining',
          command: {
            command: 'drain',
            number: 1,
            state: 'asked',
            reason: 'New memory on Monday.',
            askedBy: 'usr_1ieib5guk00c3kn3uiir',
            askedByName: 'Ada Lovelace',
            askedAt: '2026-11-02T09:00:16.000Z',
            acknowledgedAt: null,
            expiresAt: null,
          },
        },
      },
    },
  }),
} as const;
