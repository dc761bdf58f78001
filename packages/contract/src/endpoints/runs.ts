import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Cursor,
  Id,
  IdempotencyKey,
  Integer,
  LIST_LIMIT_MAX,
  List,
  ListLimit,
  NextCursor,
  Nullable,
  Ok,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import { JobCounts } from './job-counts.ts';
import { Job } from './job-schemas.ts';
import { AskOrder } from './repositories.ts';

/** Jobs of a run that its sums are made from. */
export const RUN_JOBS_MAX = 10_000;
/** Jobs of a run that its graph shows. */
export const RUN_GRAPH_JOBS_MAX = 500;
/** Packs of a run that its overview shows. */
export const RUN_PACKS_MAX = 50;

/** Statuses that the console knows; others are valid (docs/reference/protocol.md, section 5.1). */
export const knownRunStatuses = [
  'planned',
  'in_progress',
  'blocked',
  'done',
  'failed',
  'canceled',
] as const;

export const RunStatus = Text(64, {
  minLength: 1,
  description:
    'Any value. The console colours and counts planned, in_progress, blocked, done, failed and ' +
    'canceled.',
});

export const RunRef = Text(255, {
  minLength: 1,
  description: "The caller's name for the run, unique in its repository.",
});

const Milestone = Text(64, { minLength: 1, description: 'Any value, such as implementation.' });
const RunStatePath = Text(4_096, {
  minLength: 1,
  description: 'The path of the run state file, relative to the repository.',
});
const RunTitle = Text(300);
const RunGoal = Text(TEXT_CHARS_MAX, { description: 'What the run should achieve.' });

export const Run = Type.Object(
  {
    runId: Id('run'),
    workspaceId: Id('workspace'),
    repoId: Id('repository'),
    runRef: RunRef,
    title: Nullable(RunTitle),
    goal: Nullable(RunGoal),
    status: RunStatus,
    currentMilestone: Nullable(Milestone),
    runStatePath: Nullable(RunStatePath),
    blockedByDecisionRequestId: Nullable(Id('decisionRequest')),
    askOrder: Nullable(AskOrder),
    createdAt: Timestamp(),
    updatedAt: Timestamp(),
  },
  { description: 'A goal in one repository. Jobs work towards it.' },
);
export type Run = Static<typeof Run>;

/** Jobs of a run that a list of runs counts. */
export const LISTED_RUN_JOBS_MAX = 100;

/** A run in a list, with its progress. */
export const ListedRun = Type.Object({
  ...Run.properties,
  jobCounts: JobCounts,
  costUsd: Nullable(
    Type.Number({ minimum: 0, description: 'The sum that its jobs reported. Null: none did.' }),
  ),
  isCut: Type.Boolean({
    description: `Counts and cost are those of its newest ${LISTED_RUN_JOBS_MAX} jobs.`,
  }),
});
export type ListedRun = Static<typeof ListedRun>;

/** Milestones kept for a run; older ones are deleted. */
export const RUN_MILESTONES_MAX = 200;

const RunMilestone = Type.Object(
  { milestone: Nullable(Milestone), status: RunStatus, at: Timestamp() },
  { description: 'A milestone or status that the run entered.' },
);

const RunUsage = Type.Object({
  jobs: Integer(0, RUN_JOBS_MAX, 'Jobs that reported their usage.'),
  jobsWithCost: Integer(0, RUN_JOBS_MAX, 'Jobs that reported a cost.'),
  inputTokens: Integer(0, Number.MAX_SAFE_INTEGER),
  outputTokens: Integer(0, Number.MAX_SAFE_INTEGER),
  costUsd: Type.Number({ minimum: 0 }),
});
export type RunUsage = Static<typeof RunUsage>;

const RunPack = Type.Object({
  packId: Id('contextPack'),
  version: Integer(1, 1_000_000_000),
  items: Integer(0, 1_000_000),
  tokenEstimate: Integer(0, 1_000_000_000),
  createdAt: Timestamp(),
});
export type RunPack = Static<typeof RunPack>;

const { jobId, title, status, kind, agentId, parentJobId, dependsOn } = Job.properties;
const { changed, createdAt, startedAt, finishedAt } = Job.properties;

const RunJob = Type.Object(
  {
    jobId,
    title,
    status,
    kind,
    agentId,
    parentJobId,
    dependsOn,
    changed,
    createdAt,
    startedAt,
    finishedAt,
  },
  { description: 'A job of the graph: it follows its parent and the jobs that it depends on.' },
);
export type RunJob = Static<typeof RunJob>;

/** The fields that both upserts write. Absent ones are null in a new run and keep their value. */
const writtenFields = {
  status: RunStatus,
  currentMilestone: Type.Optional(Milestone),
  runStatePath: Type.Optional(RunStatePath),
  title: Type.Optional(RunTitle),
  goal: Type.Optional(RunGoal),
  blockedByDecisionRequestId: Type.Optional(
    Nullable(Id('decisionRequest', 'The decision request that blocks the run. Null clears it.')),
  ),
  askOrder: Type.Optional(Nullable(AskOrder)),
} as const;

export const exampleRun: Run = {
  runId: exampleIds.run,
  workspaceId: exampleIds.workspace,
  repoId: exampleIds.repository,
  runRef: 'health-check-2026-11',
  title: 'Health check',
  goal: 'The API answers GET /health within 50 ms, and the load balancer uses it.',
  status: 'in_progress',
  currentMilestone: 'implementation',
  runStatePath: '.runs/health-check-2026-11.json',
  blockedByDecisionRequestId: null,
  askOrder: null,
  createdAt: '2026-11-02T09:00:00.000Z',
  updatedAt: '2026-11-02T09:05:00.000Z',
};

const exampleJobCounts = { pending: 1, running: 1, done: 3, failed: 0, blocked: 0, canceled: 0 };

export const runs = {
  upsertV1: defineEndpoint({
    name: 'runsUpsertV1',
    path: '/control-plane/v1/runs/upsert',
    tag: 'Runs',
    scopes: ['agent', 'enqueue'],
    origin: 'specification',
    console: true,
    repeat: 'safe',
    jobToken: 'own-run-by-reference',
    summary: 'Create or update a run by its reference',
    description:
      'Finds the run by workspace, repository and runRef, or creates it. Absent fields of an ' +
      'existing run do not change. askOrder says who is told of its questions, before that of the ' +
      'repository; only people set it, to members of the workspace. A job token changes ' +
      'currentMilestone and runStatePath of the run of its job; other fields must be as they are.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      repoId: Id('repository'),
      runRef: RunRef,
      ...writtenFields,
      idempotencyKey: Type.Optional(IdempotencyKey),
    }),
    response: Ok({
      runId: Id('run'),
      run: Run,
      created: Type.Boolean(),
      idempotent: Type.Optional(Type.Boolean()),
    }),
    errors: ['REPO_NOT_FOUND', 'UNCERTAINTY_NOT_FOUND'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        repoId: exampleIds.repository,
        runRef: exampleRun.runRef,
        status: 'in_progress',
        currentMilestone: 'implementation',
        runStatePath: '.runs/health-check-2026-11.json',
      },
      response: { ok: true, runId: exampleIds.run, run: exampleRun, created: true },
    },
  }),
  upsertV2: defineEndpoint({
    name: 'runsUpsertV2',
    path: '/control-plane/v2/runs/upsert',
    tag: 'Runs',
    scopes: ['agent', 'enqueue'],
    origin: 'specification',
    console: true,
    repeat: 'safe',
    jobToken: 'own-run',
    summary: 'Update a run by its id',
    description:
      'Never creates a run. Absent fields do not change, and askOrder is as in version 1. A job ' +
      'token changes currentMilestone and ' +
      'runStatePath of the run of its job; other fields must be as they are.',
    request: Type.Object({ workspaceId: Id('workspace'), runId: Id('run'), ...writtenFields }),
    response: Ok({ runId: Id('run'), run: Run }),
    errors: ['RUN_NOT_FOUND', 'UNCERTAINTY_NOT_FOUND'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        runId: exampleIds.run,
        status: 'done',
        currentMilestone: 'complete',
      },
      response: {
        ok: true,
        runId: exampleIds.run,
        run: { ...exampleRun, status: 'done', currentMilestone: 'complete' },
      },
    },
  }),
  get: defineEndpoint({
    name: 'runsGet',
    path: '/control-plane/v1/runs/get',
    tag: 'Runs',
    scopes: ['read', 'agent', 'enqueue'],
    console: true,
    repeat: 'safe',
    jobToken: 'own-run',
    summary: 'Read a run',
    description: 'Finds the run by its id.',
    request: Type.Object({ workspaceId: Id('workspace'), runId: Id('run') }),
    response: Ok({ run: Run }),
    errors: ['RUN_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, runId: exampleIds.run },
      response: { ok: true, run: exampleRun },
    },
  }),
  overview: defineEndpoint({
    name: 'runsOverview',
    path: '/control-plane/v1/runs/overview',
    tag: 'Runs',
    scopes: ['read', 'agent', 'enqueue'],
    console: true,
    repeat: 'safe',
    jobToken: 'own-run',
    summary: 'Read a run with its milestones, sums and packs',
    description:
      'The milestones that the run has entered, oldest first; the number of its jobs in each ' +
      'status; the sum of the usage that its latest jobs reported with all their attempts; ' +
      'and its context packs, newest first.',
    request: Type.Object({ workspaceId: Id('workspace'), runId: Id('run') }),
    response: Ok({
      run: Run,
      milestones: List(RunMilestone, RUN_MILESTONES_MAX),
      jobCounts: JobCounts,
      usage: RunUsage,
      packs: List(RunPack, RUN_PACKS_MAX),
    }),
    errors: ['RUN_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, runId: exampleIds.run },
      response: {
        ok: true,
        run: exampleRun,
        milestones: [
          { milestone: 'planning', status: 'planned', at: '2026-11-02T09:00:00.000Z' },
          { milestone: 'implementation', status: 'in_progress', at: '2026-11-02T09:30:00.000Z' },
        ],
        jobCounts: exampleJobCounts,
        usage: {
          jobs: 3,
          jobsWithCost: 3,
          inputTokens: 81_250,
          outputTokens: 9_120,
          costUsd: 1.84,
        },
        packs: [],
      },
    },
  }),
  graph: defineEndpoint({
    name: 'runsGraph',
    path: '/control-plane/v1/runs/graph',
    tag: 'Runs',
    scopes: ['read', 'agent', 'enqueue'],
    console: true,
    repeat: 'safe',
    jobToken: 'own-run',
    summary: 'Read the jobs of a run as a graph',
    description:
      'The newest jobs of the run, oldest first, with their edges: parentJobId is the job whose ' +
      'completion enqueued it, dependsOn the jobs that must be done first. Either may be outside ' +
      'the answer. isCut: the run has more jobs.',
    request: Type.Object({ workspaceId: Id('workspace'), runId: Id('run') }),
    response: Ok({ jobs: List(RunJob, RUN_GRAPH_JOBS_MAX), isCut: Type.Boolean() }),
    errors: ['RUN_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, runId: exampleIds.run },
      response: {
        ok: true,
        jobs: [
          {
            jobId: exampleIds.job,
            title: 'Add GET /health',
            status: 'running',
            kind: 'work',
            agentId: exampleIds.agent,
            parentJobId: null,
            dependsOn: [],
            changed: null,
            createdAt: '2026-11-02T09:00:00.000Z',
            startedAt: '2026-11-02T09:00:10.000Z',
            finishedAt: null,
          },
        ],
        isCut: false,
      },
    },
  }),
  list: defineEndpoint({
    name: 'runsList',
    path: '/control-plane/v1/runs/list',
    tag: 'Runs',
    scopes: ['read', 'agent', 'enqueue'],
    console: true,
    repeat: 'safe',
    summary: 'List runs',
    description:
      'Newest first, each with the number of its jobs by status and their cost. The optional ' +
      'fields are filters.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      repoId: Type.Optional(Id('repository')),
      runRef: Type.Optional(RunRef),
      status: Type.Optional(RunStatus),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({ runs: List(ListedRun, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    example: {
      request: { workspaceId: exampleIds.workspace, status: 'in_progress' },
      response: {
        ok: true,
        runs: [{ ...exampleRun, jobCounts: exampleJobCounts, costUsd: 1.84, isCut: false }],
        nextCursor: null,
      },
    },
  }),
} as const;
