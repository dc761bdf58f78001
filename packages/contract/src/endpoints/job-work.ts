import Type, { type Static } from 'typebox';
import { Id, List, Nullable, OneOf, Text, Timestamp } from '../schema.ts';
import { doneJob, exampleJob } from './job-examples.ts';
import { jobStatuses, verdicts } from './job-schemas.ts';

/** How long the reason of a person may be who approves a work that lacks something. */
export const OVERRIDE_CHARS_MAX = 2_000;
/**
 * The execution mode of agents that can land. A landing asks for it, so that no other agent claims
 * one and runs a tool on its prompt.
 */
export const LANDING_MODE = 'landing';
/** The files with conflicts that are named. */
export const CONFLICTS_NAMED_MAX = 100;

/**
 * open: a round is pending, running or blocked, or the latest one has no commit to approve.
 * in_review: the latest round is done, with a commit. landed: that is in the base, or in a pull
 * request that its agent has opened. closed: a person has given it up.
 */
export const workStates = ['open', 'in_review', 'landed', 'closed'] as const;
export type WorkState = (typeof workStates)[number];

const Person = Type.Object({ id: Text(200), name: Nullable(Text(200)) });
const CommitSha = Text(64);
export const ConflictingFiles = List(Text(4_096), CONFLICTS_NAMED_MAX);
/** A branch of the repository, such as main. */
export const BaseBranch = Text(255, { minLength: 1 });

/** The jobs that share a branch, from the first round until they have landed. */
export const Work = Type.Object({
  workJobId: Id('job', 'The first job of the work. It names the work.'),
  state: OneOf(workStates),
  jobId: Id('job', 'The latest round that was not canceled: the one to approve and to land.'),
  commitSha: Nullable(Text(64, { description: 'Its commit. Null: it has nothing to approve.' })),
  verdict: Nullable(
    OneOf(verdicts, {
      description: 'Its verdict. unverified: no checks are configured; it may be approved.',
    }),
  ),
  approval: Nullable(
    Type.Object({
      by: Person,
      at: Timestamp(),
      jobId: Id('job', 'The round that was approved.'),
      commitSha: CommitSha,
      override: Nullable(
        Text(OVERRIDE_CHARS_MAX, {
          description: 'Why it was approved although something was missing. Null: nothing was.',
        }),
      ),
    }),
  ),
  missing: List(
    Text(1_000),
    60,
    'What the work lacks for an approval without an override, one sentence each: unresolved ' +
      'comments, failed checks, gaps, conflicts with the base. Empty unless it is in review.',
  ),
  landing: Nullable(
    Type.Object(
      {
        jobId: Id('job'),
        status: OneOf(jobStatuses),
        conflicts: Nullable(
          Type.Object(
            { into: BaseBranch, files: ConflictingFiles },
            { description: 'Null: none were found.' },
          ),
        ),
        reason: Nullable(Text(2_000, { description: 'Why the landing failed or was canceled.' })),
      },
      { description: 'The latest landing of this approval.' },
    ),
  ),
  landed: Nullable(
    Type.Object({
      into: BaseBranch,
      commitSha: Nullable(
        Text(64, {
          description: 'The commit of the base that has the work. Null: a pull request.',
        }),
      ),
      at: Timestamp(),
      by: Nullable(Type.Object(Person.properties, { description: 'Null: its agent landed it.' })),
      pullRequestUrl: Nullable(Text(2_000)),
    }),
  ),
});
export type Work = Static<typeof Work>;

/** The result of a landing as its agent tells it, with the completion of its job. */
export const LandingResult = Type.Object({
  result: OneOf(['landed', 'pull_request', 'conflicts'], {
    description:
      'landed and pull_request go with the outcome done, conflicts with failed. Any other failure ' +
      'has no landing.',
  }),
  into: BaseBranch,
  commitSha: Type.Optional(
    Text(64, { minLength: 1, description: 'The commit of the base that has the work.' }),
  ),
  pullRequestUrl: Type.Optional(Text(2_000, { minLength: 1 })),
  conflicts: Type.Optional(ConflictingFiles),
});
export type LandingResult = Static<typeof LandingResult>;

/** A work for the examples of the documentation. */
export const exampleWork: Work = {
  workJobId: doneJob.jobId,
  state: 'in_review',
  jobId: doneJob.jobId,
  commitSha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
  verdict: 'verified',
  approval: {
    by: exampleJob.createdBy,
    at: '2026-11-02T09:40:00.000Z',
    jobId: doneJob.jobId,
    commitSha: '9fceb02d0ae598e95dc970b74767f19372d61af8',
    override: null,
  },
  missing: [],
  landing: null,
  landed: null,
};
