import Type, { type Static } from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import {
  Cursor,
  Defaulted,
  Id,
  IdempotencyKey,
  Integer,
  LIST_LIMIT_MAX,
  List,
  ListLimit,
  NextCursor,
  Nullable,
  Ok,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
  Timestamp,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';

/** Exact wire values (docs/reference/specification.md, Uncertainty). */
export const uncertaintyKinds = [
  'missing_fact',
  'choice',
  'constraint',
  'approval',
  'config',
  'risk',
] as const;
export type UncertaintyKind = (typeof uncertaintyKinds)[number];

/**
 * `assumed`: not promoted, so the assumed value applies. `open`: a decision request in the inbox.
 * `resolved`: it has a resolution.
 */
export const uncertaintyStatuses = ['assumed', 'open', 'resolved'] as const;
export type UncertaintyStatus = (typeof uncertaintyStatuses)[number];

export const resolutionModes = ['answered', 'assumed', 'dismissed'] as const;
export type ResolutionMode = (typeof resolutionModes)[number];

/** The default threshold. An uncertainty is promoted if its confidence is below the threshold. */
export const AUTO_PROMOTE_THRESHOLD_DEFAULT = 0.7;
export const DECISION_WAIT_MS_MAX = 60_000;
export const DECISION_WAIT_MS_DEFAULT = 30_000;
/** How long an answered job is kept for the agent that held it. */
export const DECISION_AGENT_PREFERENCE_MS = 60_000;

/** A degree of certainty from 0 to 1, both included. */
export const Confidence = Type.Number({
  minimum: 0,
  maximum: 1,
  description: 'From 0 (a guess) to 1 (certain).',
});

export const CommitSha = Text(64, {
  minLength: 1,
  description: 'The commit that contains the answer.',
});

export const UncertaintyOption = Type.Object({
  value: Text(2_000, { description: 'The value of the resolution if this option is chosen.' }),
  label: Type.Optional(Text(200, { description: 'Shown instead of value.' })),
  description: Type.Optional(Text(10_000)),
});
export type UncertaintyOption = Static<typeof UncertaintyOption>;

const OnDeadline = OneOf(['assume', 'keep_waiting'], {
  description:
    'What happens at deadlineAt: resolve with assumedValue in mode assumed, or keep waiting.',
});

/** Fields of the question, which the record returns unchanged. */
const askedFields = {
  prompt: Text(TEXT_CHARS_MAX, { minLength: 1, description: 'The question.' }),
  kind: OneOf(uncertaintyKinds),
  confidence: Confidence,
} as const;

export const CreateUncertaintyRequest = Type.Object({
  workspaceId: Id('workspace'),
  runId: Id('run'),
  jobId: Type.Optional(
    Id('job', 'The job that asks. If it is blocked, the answer puts it back to pending.'),
  ),
  ...askedFields,
  context: Defaulted(
    Text(TEXT_CHARS_MAX, { description: 'Background for the person who answers.' }),
    '',
  ),
  impact: Defaulted(Text(2_000, { description: 'A level in words, such as high.' }), ''),
  reversibility: Defaulted(Text(2_000, { description: 'A level in words, such as easy.' }), ''),
  assumedValue: Defaulted(
    Text(TEXT_CHARS_MAX, {
      description: 'The value that applies unless a person answers otherwise.',
    }),
    '',
  ),
  assumedReasoning: Defaulted(Text(TEXT_CHARS_MAX), ''),
  autoPromoteThreshold: Defaulted(Confidence, AUTO_PROMOTE_THRESHOLD_DEFAULT),
  options: Defaulted(
    List(UncertaintyOption, 50, 'Suggested answers. Other answers are accepted too.'),
    [],
  ),
  recommendedValue: Type.Optional(Text(2_000)),
  deadlineAt: Type.Optional(Timestamp()),
  onDeadline: Defaulted(OnDeadline, 'keep_waiting'),
});

export const Resolution = Type.Object(
  {
    resolutionId: Id('resolution'),
    mode: OneOf(resolutionModes),
    value: Text(TEXT_CHARS_MAX),
    confidence: Confidence,
    commitSha: Nullable(CommitSha),
    createdByJobId: Nullable(Id('job')),
    createdBy: Nullable(
      Text(200, { description: 'The name of the person or program, or null for the deadline.' }),
    ),
    createdAt: Timestamp(),
  },
  { description: 'One answer to an uncertainty.' },
);
export type Resolution = Static<typeof Resolution>;

export const Uncertainty = Type.Object(
  {
    uncertaintyId: Id('uncertainty'),
    decisionRequestId: Nullable(Id('decisionRequest', 'Null until it is promoted.')),
    workspaceId: Id('workspace'),
    runId: Id('run'),
    jobId: Nullable(Id('job')),
    status: OneOf(uncertaintyStatuses),
    promoted: Type.Boolean(),
    ...askedFields,
    context: Text(TEXT_CHARS_MAX),
    impact: Text(2_000),
    reversibility: Text(2_000),
    assumedValue: Text(TEXT_CHARS_MAX),
    assumedReasoning: Text(TEXT_CHARS_MAX),
    autoPromoteThreshold: Confidence,
    options: List(UncertaintyOption, 50),
    recommendedValue: Nullable(Text(2_000)),
    deadlineAt: Nullable(Timestamp()),
    onDeadline: OnDeadline,
    overdue: Type.Boolean({ description: 'It is open, and deadlineAt has passed.' }),
    resolution: Nullable(Resolution),
    resolutions: List(Resolution, 1_000, 'All resolutions, oldest first. The last one applies.'),
    createdAt: Timestamp(),
    promotedAt: Nullable(Timestamp()),
    resolvedAt: Nullable(Timestamp('When the resolution that applies was added.')),
  },
  {
    description:
      'A question that an agent could not answer. Once promoted, it is a decision request.',
  },
);
export type Uncertainty = Static<typeof Uncertainty>;

const exampleUncertaintyId = 'unc_0199d1c0c0007000a1b2c3d4e5f60720';
const exampleDecisionRequestId = 'dec_0199d1c0c1007000a1b2c3d4e5f60721';

const openUncertainty: Uncertainty = {
  uncertaintyId: exampleUncertaintyId,
  decisionRequestId: exampleDecisionRequestId,
  workspaceId: exampleIds.workspace,
  runId: exampleIds.run,
  jobId: exampleIds.job,
  status: 'open',
  promoted: true,
  prompt: 'May the health check report the version of the build?',
  kind: 'approval',
  confidence: 0.4,
  context: 'The endpoint is public. The version helps operators and tells strangers as much.',
  impact: 'medium',
  reversibility: 'easy',
  assumedValue: 'no',
  assumedReasoning: 'Leaving it out reveals nothing and can be added later.',
  autoPromoteThreshold: 0.7,
  options: [
    { value: 'yes', label: 'Report it' },
    { value: 'no', label: 'Leave it out' },
  ],
  recommendedValue: 'no',
  deadlineAt: null,
  onDeadline: 'keep_waiting',
  overdue: false,
  resolution: null,
  resolutions: [],
  createdAt: '2026-11-02T09:03:00.000Z',
  promotedAt: '2026-11-02T09:03:00.000Z',
  resolvedAt: null,
};

const exampleResolution: Resolution = {
  resolutionId: 'res_0199d1c0c2007000a1b2c3d4e5f60722',
  mode: 'answered',
  value: 'no',
  confidence: 1,
  commitSha: null,
  createdByJobId: null,
  createdBy: 'Ada',
  createdAt: '2026-11-02T09:20:00.000Z',
};

const resolvedUncertainty: Uncertainty = {
  ...openUncertainty,
  status: 'resolved',
  resolution: exampleResolution,
  resolutions: [exampleResolution],
  resolvedAt: exampleResolution.createdAt,
};

const UncertaintyRef = { workspaceId: Id('workspace'), uncertaintyId: Id('uncertainty') };
const exampleRef = { workspaceId: exampleIds.workspace, uncertaintyId: exampleUncertaintyId };

export const uncertainties = {
  createWithAutoPromotion: defineEndpoint({
    name: 'uncertaintiesCreateWithAutoPromotion',
    method: 'POST',
    path: '/control-plane/v1/uncertainties/create-with-auto-promotion',
    tag: 'Uncertainties',
    auth: 'bearer',
    scopes: ['agent', 'enqueue'],
    origin: 'specification',
    console: false,
    repeat: { withKey: 'idempotencyKey' },
    jobToken: 'own-run-and-job',
    summary: 'Record an uncertainty, and ask a person when confidence is low',
    description:
      'Promotes it to a decision request in the inbox exactly when confidence is below ' +
      'autoPromoteThreshold. Otherwise decisionRequestId is null, the assumed value applies and ' +
      'is recorded as such, and a person can still promote it.',
    request: Type.Object({
      ...CreateUncertaintyRequest.properties,
      idempotencyKey: Type.Optional(IdempotencyKey),
    }),
    response: Ok({
      uncertaintyId: Id('uncertainty'),
      decisionRequestId: Nullable(Id('decisionRequest')),
      promoted: Type.Boolean(),
      idempotent: Type.Optional(Type.Boolean()),
    }),
    errors: [
      'WORKSPACE_NOT_FOUND',
      'RUN_NOT_FOUND',
      'JOB_NOT_FOUND',
      'IDEMPOTENCY_CONFLICT',
      'NOT_ALLOWED',
    ],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        runId: exampleIds.run,
        jobId: exampleIds.job,
        prompt: openUncertainty.prompt,
        kind: 'approval',
        context: openUncertainty.context,
        confidence: 0.4,
        impact: 'medium',
        reversibility: 'easy',
        assumedValue: 'no',
        assumedReasoning: openUncertainty.assumedReasoning,
        autoPromoteThreshold: 0.7,
      },
      response: {
        ok: true,
        uncertaintyId: exampleUncertaintyId,
        decisionRequestId: exampleDecisionRequestId,
        promoted: true,
      },
    },
  }),
  addResolution: defineEndpoint({
    name: 'uncertaintiesAddResolution',
    method: 'POST',
    path: '/control-plane/v1/uncertainties/add-resolution',
    tag: 'Uncertainties',
    auth: 'bearer',
    scopes: ['decide'],
    origin: 'specification',
    console: true,
    repeat: { withKey: 'idempotencyKey' },
    jobToken: 'none',
    summary: 'Answer an uncertainty',
    description:
      'The first resolution wins. A second is ALREADY_RESOLVED, unless supersede is true, which ' +
      'keeps both in order. In the same transaction, and exactly once, the blocked job that ' +
      'asked goes back to pending with the answer. Without such a job, an apply_decision job is ' +
      "enqueued for the run's repository.",
    request: Type.Object({
      ...UncertaintyRef,
      mode: OneOf(resolutionModes),
      value: Text(TEXT_CHARS_MAX, {
        description: 'The answer. It may be empty with mode dismissed.',
      }),
      confidence: Confidence,
      commitSha: Type.Optional(CommitSha),
      createdByJobId: Type.Optional(Id('job', 'The job that found the answer.')),
      supersede: Defaulted(Type.Boolean(), false),
      idempotencyKey: Type.Optional(IdempotencyKey),
    }),
    response: Ok({
      resolutionId: Id('resolution'),
      uncertainty: Uncertainty,
      idempotent: Type.Optional(Type.Boolean()),
    }),
    errors: [
      'WORKSPACE_NOT_FOUND',
      'UNCERTAINTY_NOT_FOUND',
      'JOB_NOT_FOUND',
      'ALREADY_RESOLVED',
      'IDEMPOTENCY_CONFLICT',
      'NOT_ALLOWED',
    ],
    example: {
      request: { ...exampleRef, mode: 'answered', value: 'no', confidence: 1 },
      response: {
        ok: true,
        resolutionId: exampleResolution.resolutionId,
        uncertainty: resolvedUncertainty,
      },
    },
  }),
  get: defineEndpoint({
    name: 'uncertaintiesGet',
    method: 'POST',
    path: '/control-plane/v1/uncertainties/get',
    tag: 'Uncertainties',
    auth: 'bearer',
    scopes: ['read', 'agent', 'decide'],
    origin: 'extension',
    console: true,
    repeat: 'safe',
    jobToken: 'by-operation',
    summary: 'Read an uncertainty with its resolutions',
    description: 'Returns it in any status.',
    request: Type.Object(UncertaintyRef),
    response: Ok({ uncertainty: Uncertainty }),
    errors: ['WORKSPACE_NOT_FOUND', 'UNCERTAINTY_NOT_FOUND', 'NOT_ALLOWED'],
    example: { request: exampleRef, response: { ok: true, uncertainty: resolvedUncertainty } },
  }),
  list: defineEndpoint({
    name: 'uncertaintiesList',
    method: 'POST',
    path: '/control-plane/v1/uncertainties/list',
    tag: 'Uncertainties',
    auth: 'bearer',
    scopes: ['read', 'agent', 'decide'],
    origin: 'extension',
    console: true,
    repeat: 'safe',
    jobToken: 'own-run',
    summary: 'List uncertainties',
    description: 'Newest first. The optional fields are filters. Status open lists the inbox.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      status: Type.Optional(OneOf(uncertaintyStatuses)),
      kind: Type.Optional(OneOf(uncertaintyKinds)),
      runId: Type.Optional(Id('run')),
      jobId: Type.Optional(Id('job')),
      promoted: Type.Optional(Type.Boolean()),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({ uncertainties: List(Uncertainty, LIST_LIMIT_MAX), nextCursor: NextCursor }),
    errors: ['WORKSPACE_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { workspaceId: exampleIds.workspace, status: 'open' },
      response: { ok: true, uncertainties: [openUncertainty], nextCursor: null },
    },
  }),
  promote: defineEndpoint({
    name: 'uncertaintiesPromote',
    method: 'POST',
    path: '/control-plane/v1/uncertainties/promote',
    tag: 'Uncertainties',
    auth: 'bearer',
    scopes: ['decide'],
    origin: 'extension',
    console: true,
    repeat: 'safe',
    jobToken: 'none',
    summary: 'Promote an uncertainty to a decision request in the inbox',
    description: 'One that is already promoted is returned unchanged.',
    request: Type.Object(UncertaintyRef),
    response: Ok({ decisionRequestId: Id('decisionRequest'), uncertainty: Uncertainty }),
    errors: ['WORKSPACE_NOT_FOUND', 'UNCERTAINTY_NOT_FOUND', 'ALREADY_RESOLVED', 'NOT_ALLOWED'],
    example: {
      request: exampleRef,
      response: {
        ok: true,
        decisionRequestId: exampleDecisionRequestId,
        uncertainty: openUncertainty,
      },
    },
  }),
  wait: defineEndpoint({
    name: 'uncertaintiesWait',
    method: 'POST',
    path: '/control-plane/v1/uncertainties/wait',
    tag: 'Uncertainties',
    auth: 'bearer',
    scopes: ['read', 'agent', 'decide'],
    origin: 'extension',
    console: false,
    repeat: 'safe',
    jobToken: 'by-operation',
    summary: 'Wait for the answer to an uncertainty',
    description:
      'Answers when the uncertainty is no longer open, at the latest after waitMs. An ' +
      'uncertainty that is not promoted is returned at once. If status is open, the time ran ' +
      'out: call again.',
    request: Type.Object({
      ...UncertaintyRef,
      waitMs: Defaulted(Integer(0, DECISION_WAIT_MS_MAX), DECISION_WAIT_MS_DEFAULT),
    }),
    response: Ok({ uncertainty: Uncertainty }),
    errors: ['WORKSPACE_NOT_FOUND', 'UNCERTAINTY_NOT_FOUND', 'NOT_ALLOWED'],
    example: {
      request: { ...exampleRef, waitMs: 60_000 },
      response: { ok: true, uncertainty: resolvedUncertainty },
    },
  }),
} as const;
