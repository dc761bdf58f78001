import Type, { type Static } from 'typebox';
import { Id, List, Text } from '../schema.ts';

/** The most jobs on which one can depend. */
export const DEPENDENCIES_MAX = 100;

/** The base of a job, as its agent has found it. */
export const BuildsOn = Type.Object({
  commitSha: Text(64, { description: 'The commit that the work began with.' }),
  branch: Type.Optional(
    Text(255, { description: 'The branch that it is for. Absent: HEAD of the clone named none.' }),
  ),
  jobs: Type.Optional(
    List(
      Type.Object({ jobId: Id('job'), commitSha: Text(64) }),
      DEPENDENCIES_MAX,
      'The jobs whose commits it has, beyond those of the branch. Absent: none.',
    ),
  ),
});
export type BuildsOn = Static<typeof BuildsOn>;

/** Whether the base of a job names another job, and not a branch. */
export function isJobBase(base: string): boolean {
  return /^job_[0-9a-z]{20,}$/.test(base);
}
