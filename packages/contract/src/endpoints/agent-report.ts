import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Defaulted, Id, Integer, List, Ok, Text, Timestamp } from '../schema.ts';
import { AgentCommand, heartbeatAnswer, heartbeatFields } from './agents.ts';
import { exampleIds } from './example-ids.ts';
import { JOB_LOG_ENTRIES_MAX, jobEvents } from './job-events.ts';
import { jobs, renewalFields } from './jobs.ts';

/** Renewals of one report, and jobs whose output it carries. */
export const REPORT_JOBS_MAX = 100;

const { response: renewed } = jobs.heartbeat;
const { request: append, response: appended } = jobEvents.append;

/** Why one item of a report was refused; the other items count. */
const refusalFields = {
  error: Type.Optional(
    Text(100, { description: 'The code with which the single call would be refused.' }),
  ),
  message: Type.Optional(Text(1_000, { description: 'The reason of the refusal.' })),
  retryAfterMs: Type.Optional(
    Integer(0, 3_600_000, 'With RATE_LIMITED: when to send the item again.'),
  ),
} as const;

export const RenewalResult = Type.Object({
  jobId: Id('job'),
  leaseExpiresAt: Type.Optional(Timestamp('Absent when the renewal was refused.')),
  cancelRequested: Type.Optional(renewed.properties.cancelRequested),
  ...refusalFields,
});
export type RenewalResult = Static<typeof RenewalResult>;

export const OutputResult = Type.Object({
  jobId: Id('job'),
  appended: Type.Optional(appended.properties.appended),
  lastLogSeq: Type.Optional(appended.properties.lastLogSeq),
  cancelRequested: appended.properties.cancelRequested,
  ...refusalFields,
});
export type OutputResult = Static<typeof OutputResult>;

export const agentsReport = defineEndpoint({
  name: 'agentsReport',
  path: '/control-plane/v1/agents/report',
  tag: 'Agents',
  scopes: ['agent'],
  console: false,
  repeat: 'safe',
  summary: 'Send a heartbeat, renewals and output in one call',
  description:
    'Does what agents/heartbeat, jobs/heartbeat and job-events/append do, in one transaction and ' +
    'by the same rules. Each list of the answer has one result for each item, in the order of the ' +
    'request. An item that is refused does not prevent the others, so a lost lease costs no other ' +
    `job anything. outputs have at most ${JOB_LOG_ENTRIES_MAX} entries together.`,
  request: Type.Object({
    workspaceId: Id('workspace'),
    agentId: Id('agent', 'The agent that holds the jobs, as its heartbeat returned it.'),
    heartbeat: Type.Optional(Type.Object(heartbeatFields)),
    renewals: Defaulted(
      List(Type.Object({ jobId: Id('job'), ...renewalFields }), REPORT_JOBS_MAX),
      [],
    ),
    outputs: Defaulted(
      List(
        Type.Object({
          jobId: Id('job'),
          claimGeneration: append.properties.claimGeneration,
          entries: append.properties.entries,
        }),
        REPORT_JOBS_MAX,
      ),
      [],
    ),
  }),
  response: Ok({
    heartbeat: Type.Optional(Type.Object(heartbeatAnswer)),
    commands: List(AgentCommand, 1_000, 'As in the answers to heartbeats and renewals.'),
    renewals: List(RenewalResult, REPORT_JOBS_MAX),
    outputs: List(OutputResult, REPORT_JOBS_MAX),
  }),
  errors: ['AGENT_NOT_FOUND'],
  example: {
    request: {
      workspaceId: exampleIds.workspace,
      agentId: exampleIds.agent,
      renewals: [{ jobId: exampleIds.job, claimGeneration: 1, leaseMs: 60_000 }],
      outputs: [
        {
          jobId: exampleIds.job,
          claimGeneration: 1,
          entries: [{ logSeq: 1, message: 'npm test\n', stream: 'stdout' }],
        },
      ],
    },
    response: {
      ok: true,
      commands: [],
      renewals: [
        {
          jobId: exampleIds.job,
          leaseExpiresAt: '2026-11-02T09:12:00.000Z',
          cancelRequested: false,
        },
      ],
      outputs: [{ jobId: exampleIds.job, appended: 1, lastLogSeq: 1 }],
    },
  },
});
