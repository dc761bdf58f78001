import Type from 'typebox';
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
} from '../schema.ts';
import {
  CommitSha,
  Confidence,
  CreateUncertaintyRequest,
  DECISION_WAIT_MS_DEFAULT,
  DECISION_WAIT_MS_MAX,
  type Resolution,
  resolutionModes,
  Uncertainty,
  uncertaintyKinds,
  uncertaintyStatuses,
} from './uncertainties.ts';
import { exampleIds } from './workspaces.ts';

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
    summary: 'Record an uncertainty, and ask a person when confidence is low',
    description:
      'Promoted to a decision request in the inbox exactly when confidence is below ' +
      'autoPromoteThreshold. Not promoted: decisionRequestId is null, the assumed value stands ' +
      'and is recorded as such, and a person can still promote it.',
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
    summary: 'Answer an uncertainty',
    description:
      'The first resolution wins; a second is ALREADY_RESOLVED unless supersede is true, which ' +
      'keeps both in order. In the same transaction, and exactly once, a blocked job that asked ' +
      'goes back to pending with the answer; without one, an apply_decision job is enqueued for ' +
      "the run's repository.",
    request: Type.Object({
      ...UncertaintyRef,
      mode: OneOf(resolutionModes),
      value: Text(TEXT_CHARS_MAX, { description: 'The answer; may be empty when dismissed.' }),
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
    summary: 'Read an uncertainty with its resolutions',
    description: 'Promoted or not, resolved or not.',
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
    summary: 'List uncertainties; with status open, the inbox',
    description: 'Newest first, filtered by any of the optional fields.',
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
    summary: 'Put an uncertainty into the inbox whose assumed value stands so far',
    description: 'One that is promoted already is answered as it is.',
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
    summary: 'Wait for the answer to an uncertainty',
    description:
      'Answers as soon as the uncertainty is no longer open, at the latest after waitMs; one ' +
      'whose assumed value stands is answered at once. status open: the time ran out, call again.',
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
