import Type, { type Static, type TSchema } from 'typebox';
import { isolationRungs } from '../isolation.ts';
import {
  Defaulted,
  Id,
  IdempotencyKey,
  Integer,
  Json,
  JsonObject,
  Labels,
  List,
  Nullable,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { BuildsOn, DEPENDENCIES_MAX } from './job-base.ts';
import { VARIANTS_MAX, Variant } from './job-variant.ts';
import { ContentType, FileName, SizeBytes } from './upload-schemas.ts';

/** Exact wire values (docs/reference/specification.md, Job). */
export const jobKinds = [
  'install_ias',
  'create_run',
  'context_architect',
  'apply_decision',
  'update_git_policy',
  'git_repair',
  'work',
  'pr_review',
] as const;
export type JobKind = (typeof jobKinds)[number];

/** Kinds that change the repository. They need an agent with canWrite, unless the job says no. */
export const writingJobKinds: readonly JobKind[] = [
  'install_ias',
  'create_run',
  'apply_decision',
  'update_git_policy',
  'git_repair',
  'work',
];

export const jobStatuses = ['pending', 'running', 'done', 'failed', 'blocked', 'canceled'] as const;
export type JobStatus = (typeof jobStatuses)[number];

export const jobOutcomes = ['done', 'failed', 'blocked'] as const;
export type JobOutcome = (typeof jobOutcomes)[number];

/** The refusals of a write that names an agent and its claim. */
export const claimErrors = [
  'AGENT_NOT_FOUND',
  'LEASE_LOST',
  'CLAIM_GENERATION_MISMATCH',
  'JOB_NOT_RUNNING',
  'JOB_ALREADY_FINISHED',
  'JOB_CANCELED',
] as const;

export const LEASE_MS_MIN = 1_000;
export const LEASE_MS_MAX = 86_400_000;
export const LEASE_MS_DEFAULT = 600_000;
export const CLAIM_WAIT_MS_MAX = 60_000;
export const PRIORITY_MIN = -1_000;
export const PRIORITY_MAX = 1_000;
/** One point of priority equals this much waiting time, so that no job starves. */
export const PRIORITY_POINT_MS = 10 * 60 * 1000;
export const ATTEMPTS_MAX_DEFAULT = 5;
/** At start, leases that ran out while no hub was running are extended by this. */
export const OUTAGE_GRACE_MS = 60_000;

export const LeaseMs = Integer(LEASE_MS_MIN, LEASE_MS_MAX, 'The lease in milliseconds.');
/** A restore of the hub begins another range of them, so an integer that JSON keeps exactly. */
export const ClaimGeneration = Integer(
  1,
  Number.MAX_SAFE_INTEGER,
  'The number of the claim, as its answer has it. It fences later writes: if sent, it must be the ' +
    'current one. If absent, agentId must hold the lease.',
);
export const Priority = Integer(
  PRIORITY_MIN,
  PRIORITY_MAX,
  'Higher goes first. One point equals ten minutes of waiting.',
);

/** The requirements of a job on an agent, if `requirements` is an object or JSON text of one. */
export const RequiredCapabilities = Type.Object({
  executionMode: Type.Optional(Text(64)),
  tool: Type.Optional(
    Text(64, { description: 'The coding tool, by the name that agents report.' }),
  ),
  model: Type.Optional(Text(128)),
  models: Type.Optional(List(Text(128), 50, 'The agent needs one of them.')),
  canWrite: Type.Optional(Type.Boolean()),
  writeRequired: Type.Optional(Type.Boolean()),
  networkRequired: Type.Optional(Type.Boolean()),
  isolation: Type.Optional(
    OneOf(isolationRungs, { description: 'The tool must be kept from the machine by this rung.' }),
  ),
  labels: Type.Optional(Labels('The agent needs all of them.')),
});
export type RequiredCapabilities = Static<typeof RequiredCapabilities>;

export const Requirements = Type.Union([Text(TEXT_CHARS_MAX), JsonObject()], {
  description:
    'Plain text is for the agent to read. An object, or JSON text of one, lists the required ' +
    'capabilities: executionMode, tool, model, models, canWrite, writeRequired, networkRequired, ' +
    'isolation, labels.',
});

/** The judgement of a job's checks on its commit. */
export const verdicts = ['verified', 'gaps', 'unverified'] as const;
export type Verdict = (typeof verdicts)[number];

/** How a check ended. Refused: it could not be started. Stopped: the agent ended it. */
export const checkOutcomes = ['passed', 'failed', 'timed_out', 'refused', 'stopped'] as const;
export type CheckOutcome = (typeof checkOutcomes)[number];

/** One check command that an agent ran after the tool. */
export const EvidenceCheck = Type.Object({
  name: Text(200),
  command: Text(2_000),
  outcome: OneOf(checkOutcomes),
  exitCode: Type.Optional(Integer(0, 255)),
  durationMs: Integer(0, 86_400_000),
  output: Type.Optional(Text(4_000, { description: 'The end of the output, without secrets.' })),
});
export type EvidenceCheck = Static<typeof EvidenceCheck>;

/** Of the fields that the hub only stores, any agent may send any form. */
function stored(schema: TSchema) {
  return Type.Optional(Type.Union([schema, Json('Another form is stored as it is.')]));
}

/** The maximum size of a patch: 512 KB. */
export const PATCH_BYTES_MAX = 512 * 1024;
/** The maximum number of files with counted lines. */
export const COUNTED_FILES_MAX = 1_000;

/** How many lines of a file a job has added and deleted. */
export const ChangedFileCount = Type.Object({
  path: Text(4_096),
  added: Type.Optional(Integer(0, 1_000_000_000, 'Absent for files that are not text.')),
  deleted: Type.Optional(Integer(0, 1_000_000_000)),
});
export type ChangedFileCount = Static<typeof ChangedFileCount>;

/** A longer line of a finding is not told. */
export const FINDING_LINE_CHARS_MAX = 500;

/** The upload that holds the changes of a job. jobs/patch returns its text. */
export const SharedPatch = Type.Object({
  uploadId: Id('upload'),
  sizeBytes: Integer(0, PATCH_BYTES_MAX),
  filesOmitted: Type.Optional(
    Integer(0, 1_000_000, 'Changed files that are not in the patch. Absent: none.'),
  ),
});
export type SharedPatch = Static<typeof SharedPatch>;

export const Evidence = Type.Object(
  {
    commitSha: Type.Optional(Text(64)),
    changedFiles: Type.Optional(List(Text(4_096), 10_000)),
    branch: stored(Text(255, { description: "The job's branch in the clone of the agent." })),
    baseSha: stored(Text(64, { description: 'The commit that the job started from.' })),
    files: stored(
      List(
        ChangedFileCount,
        COUNTED_FILES_MAX,
        'Counts of lines for changedFiles, or for the first of them. Absent: not shared.',
      ),
    ),
    patch: stored(SharedPatch),
    roundBaseSha: stored(Text(64, { description: 'The commit that its round began with.' })),
    roundPatch: stored(SharedPatch),
    verdict: stored(
      OneOf(verdicts, {
        description:
          'verified: checks are configured, all passed, and the clone has the commit. gaps: ' +
          'something is missing. unverified: no checks are configured.',
      }),
    ),
    checks: stored(List(EvidenceCheck, 50)),
    gaps: stored(List(Text(1_000), 50, 'What is missing, one sentence each.')),
    reviewedSha: stored(
      Text(64, { description: 'The commit that a job with reviewsJobId has reviewed.' }),
    ),
    findings: stored(
      List(
        Type.Object({
          file: Text(1_000),
          line: Type.Optional(Integer(1, 10_000_000)),
          severity: OneOf(['blocker', 'major', 'minor']),
          message: Text(2_000),
          text: Type.Optional(
            Text(FINDING_LINE_CHARS_MAX, { description: 'The line in reviewedSha, from git.' }),
          ),
        }),
        100,
        'What a review says is wrong.',
      ),
    ),
    conflicts: stored(
      Type.Object(
        { into: Text(255), files: List(Text(4_096), 100) },
        { description: 'The files in which the commit conflicts with the base. Absent: none.' },
      ),
    ),
    pushedTo: stored(Text(255, { description: 'The remote that has the branch.' })),
    buildsOn: stored(BuildsOn),
    pullRequestUrl: stored(Text(2_000)),
  },
  { description: 'Proof of the outcome. Further fields are stored and returned.' },
);
export type Evidence = Static<typeof Evidence>;

export const Usage = Type.Object({
  inputTokens: Type.Optional(Integer(0, 1_000_000_000_000)),
  outputTokens: Type.Optional(Integer(0, 1_000_000_000_000)),
  costUsd: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000_000 })),
  model: Type.Optional(Text(128)),
  cachedInputTokens: Type.Optional(
    Integer(0, 1_000_000_000_000, 'How many of inputTokens were read from a cache.'),
  ),
  models: Type.Optional(
    List(
      Type.Object({
        model: Text(128),
        inputTokens: Type.Optional(Integer(0, 1_000_000_000_000)),
        outputTokens: Type.Optional(Integer(0, 1_000_000_000_000)),
        cachedInputTokens: Type.Optional(Integer(0, 1_000_000_000_000)),
        costUsd: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000_000 })),
      }),
      20,
      'The same for each model, if the tool used more than one.',
    ),
  ),
});
export type Usage = Static<typeof Usage>;

export const OutcomeReason = Type.Union([
  Text(10_000),
  Type.Object({
    category: Type.Optional(Text(100)),
    code: Type.Optional(Text(100)),
    retryable: Type.Optional(
      Type.Boolean({
        description: 'If true, a failed or blocked job goes back to pending while attempts remain.',
      }),
    ),
    recommendedDelayMs: Type.Optional(Integer(0, 86_400_000)),
    spendsAttempt: Type.Optional(
      Type.Boolean({
        description:
          'If false, a retryable attempt does not count: the job gets one more. For an agent that ' +
          'could not begin, such as at the limit of its account.',
      }),
    ),
    occurrencesMax: Type.Optional(
      Integer(
        1,
        1_000,
        'A retryable outcome is final when this many attempts of the job have ended with its code, ' +
          'this one included. For an unknown failure.',
      ),
    ),
    summary: Type.Optional(Text(10_000)),
    details: Type.Optional(Json()),
  }),
]);
export type OutcomeReason = Static<typeof OutcomeReason>;

/** The fields of an enqueued job, shared with the children of a completion. */
export const jobFields = {
  kind: OneOf(jobKinds),
  role: Defaulted(Text(100), 'implementer'),
  prompt: Text(TEXT_CHARS_MAX, { minLength: 1, description: 'The work instruction.' }),
  requirements: Type.Optional(Requirements),
  priority: Defaulted(Priority, 0),
  runId: Type.Optional(Id('run')),
  maxAttempts: Defaulted(Integer(1, 100), ATTEMPTS_MAX_DEFAULT),
  delayMs: Defaulted(
    Integer(0, 366 * 86_400_000, 'The job cannot be claimed before this time has passed.'),
    0,
  ),
  dependsOn: Defaulted(
    List(
      Id('job'),
      DEPENDENCIES_MAX,
      'The job waits until all of these are done. Without a base, it builds on their commits.',
    ),
    [],
  ),
  base: Type.Optional(
    Text(255, {
      minLength: 1,
      pattern:
        '^[^\\s\\u0000-\\u001f\\u007f~^:?*\\[\\\\-][^\\s\\u0000-\\u001f\\u007f~^:?*\\[\\\\]*$',
      description:
        'What the job builds on: a branch, where its work also lands; or the id of a job of the ' +
        'repository that has a commit, or has not ended: then the job waits until it is done. ' +
        'Absent: the commits of dependsOn, or else the branch that the agent is configured with.',
    }),
  ),
  concurrencyKey: Type.Optional(
    Text(255, {
      minLength: 1,
      description: 'At most one job with the same key runs in the workspace.',
    }),
  ),
  budget: Type.Optional(
    JsonObject(
      'Limits for the agent. costUsd: a job that costs more ends as failed with budget_spent; an ' +
        'agent whose tool reports no cost fails it with budget_not_enforced. timeLimitMs: an ' +
        'attempt that takes longer ends as failed with time_limit. The limit of the agent counts, too.',
    ),
  ),
} as const;

/** A job enqueued by the completion of its parent, in the same transaction. */
export const ChildJob = Type.Object({
  ...jobFields,
  repoId: Type.Optional(Id('repository', 'If absent, the repository of the parent.')),
});
export type ChildJob = Static<typeof ChildJob>;

/** The maximum number of files attached to a job. */
export const ATTACHMENTS_MAX = 10;

/** A file for the tool of a job: an upload, as it was announced. */
export const Attachment = Type.Object({
  uploadId: Id('upload'),
  fileName: FileName,
  sizeBytes: SizeBytes,
  contentType: ContentType,
});
export type Attachment = Static<typeof Attachment>;

export const EnqueueRequest = Type.Object({
  workspaceId: Id('workspace'),
  repoId: Id('repository'),
  ...jobFields,
  attachments: Type.Optional(
    List(
      Id('upload'),
      ATTACHMENTS_MAX,
      'Completed uploads of this workspace. The agent gives their files to the tool.',
    ),
  ),
  variants: Type.Optional(
    Type.Array(Variant, {
      minItems: 2,
      maxItems: VARIANTS_MAX,
      description:
        'The work is tried once for each of these, by jobs that differ in their tool and model ' +
        'only, each on a branch of its own. A person chooses one of the results.',
    }),
  ),
  parentJobId: Type.Optional(Id('job')),
  reviewsJobId: Type.Optional(
    Id(
      'job',
      'For a pr_review: the ended job of the repository whose commit it reviews. It begins with ' +
        'this commit, and its findings are shown on the lines of that work.',
    ),
  ),
  idempotencyKey: Type.Optional(IdempotencyKey),
});

/** Of a title. It is shown in one line. */
export const TITLE_CHARS_MAX = 200;

export const JobTitle = Text(TITLE_CHARS_MAX, {
  description: 'The first line of the prompt with text in it, cut if it is long.',
});

const Changed = Type.Boolean({
  description:
    'Whether a job that is done changed the repository, by its evidence. False only if the job ' +
    'was to change it. Null: not done, not known, or nothing was to change.',
});

export const Job = Type.Object({
  jobId: Id('job'),
  workspaceId: Id('workspace'),
  repoId: Id('repository'),
  runId: Nullable(Id('run')),
  kind: OneOf(jobKinds),
  role: Text(100),
  title: JobTitle,
  prompt: Text(TEXT_CHARS_MAX),
  requirements: Nullable(Requirements),
  priority: Priority,
  status: OneOf(jobStatuses),
  attempt: Integer(0, 1_000_000, 'The number of attempts so far.'),
  maxAttempts: Integer(
    1,
    1_000_000,
    'One more for each attempt that did not count and for each retry by a person: ' +
      'maxAttempts − attempt is how often it may still be tried.',
  ),
  agentId: Nullable(Id('agent', 'The agent that holds the job, or held it last.')),
  leaseMs: Nullable(LeaseMs),
  leaseExpiresAt: Nullable(Timestamp()),
  availableAt: Timestamp(),
  createdAt: Timestamp(),
  createdBy: Type.Object(
    {
      id: Text(200),
      name: Nullable(Text(200, { description: 'Null for an agent, a trigger and the hub.' })),
    },
    { description: 'Who enqueued the job: a person, a service, an agent or a trigger.' },
  ),
  startedAt: Nullable(Timestamp('When the latest attempt started.')),
  finishedAt: Nullable(Timestamp()),
  outcome: Nullable(OneOf(jobOutcomes)),
  outcomeReason: Nullable(OutcomeReason),
  message: Nullable(Text(TEXT_CHARS_MAX)),
  evidence: Nullable(Evidence),
  changed: Nullable(Changed),
  verdict: Nullable(OneOf(verdicts, { description: 'Of the evidence of a job that is done.' })),
  tool: Nullable(
    Text(64, {
      description: 'The coding tool of the last attempt that ended, or that the job asks for.',
    }),
  ),
  model: Nullable(
    Text(128, {
      description: 'The model of the last attempt that ended, or that the job asks for.',
    }),
  ),
  /** The usage of all attempts that have ended. */
  usage: Nullable(Usage),
  budget: Nullable(JsonObject()),
  parentJobId: Nullable(Id('job')),
  continuesJobId: Nullable(Id('job', 'The round before, which this job continues.')),
  workJobId: Nullable(Id('job', 'The first job of the work. Null: this job continues none.')),
  round: Integer(1, 1_000_000, 'Which job of its piece of work it is. 1: it continues none.'),
  landsJobId: Nullable(
    Id('job', 'The round whose commit this job lands. Null: the job is no landing.'),
  ),
  workEnded: Nullable(
    OneOf(['landed', 'closed'], {
      description: 'Its piece of work has ended, and nothing has continued it. Null: it is open.',
    }),
  ),
  reviewsJobId: Type.Optional(
    Id('job', 'The job whose commit this pr_review reviews. Absent: it names none.'),
  ),
  variantOf: Type.Optional(
    Id('job', 'The first of the variants to which the job belongs. Absent: it is no variant.'),
  ),
  // One more: the job that it builds on.
  dependsOn: List(Id('job'), DEPENDENCIES_MAX + 1),
  base: Type.Optional(
    Text(255, { description: 'The branch or the job that it was told to build on.' }),
  ),
  baseBranch: Type.Optional(
    Text(255, {
      description:
        'The branch that its work is for, as it or a job that it builds on names it. Absent: the ' +
        'one that the agent is configured with.',
    }),
  ),
  concurrencyKey: Nullable(Text(255)),
  cancelRequestedAt: Nullable(Timestamp()),
  waitingOnUncertaintyId: Nullable(Id('uncertainty')),
  attachments: Type.Optional(
    List(Attachment, ATTACHMENTS_MAX, 'The files for the tool. Absent: the job has no files.'),
  ),
  decisions: List(
    Type.Object({
      uncertaintyId: Id('uncertainty'),
      prompt: Text(TEXT_CHARS_MAX),
      mode: Text(40),
      value: Text(TEXT_CHARS_MAX),
      by: Type.Optional(
        Nullable(
          Text(200, { description: 'Who answered. Null: the deadline, or the end of the job.' }),
        ),
      ),
      resolvedAt: Timestamp(),
    }),
    100,
    'The answers to questions of the job that were handed to it.',
  ),
});
export type Job = Static<typeof Job>;
