import Type, { type Static } from 'typebox';
import { Integer } from '../schema.ts';

/** Counting stops here, so that a count costs the same however many jobs there are. */
export const JOB_COUNT_MAX = 1_000;
const JobCount = Integer(0, JOB_COUNT_MAX);

/** The number of jobs in each status. */
export const JobCounts = Type.Object({
  pending: JobCount,
  running: JobCount,
  done: JobCount,
  failed: JobCount,
  blocked: JobCount,
  canceled: JobCount,
});
export type JobCounts = Static<typeof JobCounts>;
