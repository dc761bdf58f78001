import Type, { type Static } from 'typebox';
import { Id, Integer, Nullable, OneOf, Text, Timestamp } from '../schema.ts';
import { jobOutcomes, Usage, verdicts } from './job-schemas.ts';

/** The latest attempts that `jobs/get` compares. */
export const ATTEMPTS_COMPARED_MAX = 10;

/** One attempt of a job. What is not known is null. */
export const JobAttempt = Type.Object({
  attempt: Integer(1, 1_000_000),
  agentId: Nullable(Id('agent')),
  startedAt: Nullable(Timestamp()),
  endedAt: Nullable(Timestamp('Null: it runs, or its lease was lost.')),
  outcome: Nullable(OneOf([...jobOutcomes, 'canceled'])),
  tool: Nullable(Text(64)),
  model: Nullable(Text(128)),
  verdict: Nullable(OneOf(verdicts)),
  usage: Nullable(Usage),
});
export type JobAttempt = Static<typeof JobAttempt>;
