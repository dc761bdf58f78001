import Type, { type Static } from 'typebox';
import { Id, List, OneOf, Text, Timestamp } from '../schema.ts';
import { waitingReasons } from './job-listed.ts';
import { JobTitle, jobStatuses } from './job-schemas.ts';

/** Agents that the reason names; others are left out. */
export const WAITING_AGENTS_MAX = 10;

const WaitingAgent = Type.Object({
  agentId: Id('agent'),
  displayName: Text(200),
  obstacle: Text(4_000, {
    description: 'Why the agent does not claim the job, such as "lacks label gpu=yes".',
  }),
  until: Type.Optional(Timestamp('When the obstacle ends, if that is known.')),
});
export type WaitingAgent = Static<typeof WaitingAgent>;

const WaitingJob = Type.Object({
  jobId: Id('job'),
  title: JobTitle,
  status: OneOf(jobStatuses),
});
export type WaitingJob = Static<typeof WaitingJob>;

/** Why a job is not running: the first reason that applies. */
export const WaitingFor = Type.Object({
  reason: OneOf(waitingReasons),
  message: Text(4_000),
  jobIds: Type.Optional(List(Id('job'), 100)),
  jobs: Type.Optional(List(WaitingJob, 100, 'The jobs of jobIds.')),
  agents: Type.Optional(
    List(WaitingAgent, WAITING_AGENTS_MAX, 'Agents that could claim it but for an obstacle.'),
  ),
  until: Type.Optional(Timestamp('When the reason ends, if that is known.')),
});
export type WaitingFor = Static<typeof WaitingFor>;
