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
import { exampleIds } from './example-ids.ts';
import { ClaimGeneration, claimErrors } from './job-schemas.ts';
import {
  exampleDecisionRequestId,
  exampleResolution,
  exampleSituation,
  exampleUncertaintyId,
  openUncertainty,
  resolvedUncertainty,
} from './uncertainty-examples.ts';
import { uncertaintiesInbox, uncertaintiesResolveAlike } from './uncertainty-inbox.ts';
import {
  CommitSha,
  Confidence,
  CreateUncertaintyRequest,
  DECISION_WAIT_MS_DEFAULT,
  DECISION_WAIT_MS_MAX,
  DecisionSituation,
  ListedUncertainty,
  resolutionModes,
  UNCERTAINTY_COUNT_MAX,
  UNDO_MS_MAX,
  Uncertainty,
  UncertaintyCounts,
  uncertaintyFilters,
  uncertaintyStatuses,
} from './uncertainty-schemas.ts';

const UncertaintyRef = { workspaceId: Id('workspace'), uncertaintyId: Id('uncertainty') };
const exampleRef = { workspaceId: exampleIds.workspace, uncertaintyId: exampleUncertaintyId };

export const uncertainties = {
  createWithAutoPromotion: defineEndpoint({
    name: 'uncertaintiesCreateWithAutoPromotion',
    path: '/control-plane/v1/uncertainties/create-with-auto-promotion',
    tag: 'Uncertainties',
    scopes: ['agent', 'enqueue'],
    origin: 'specification',
    console: false,
    repeat: { withKey: 'idempotencyKey' },
    jobToken: 'own-run-and-job',
    summary: 'Record an uncertainty, and ask a person when confidence is low',
    description:
      'Promotes it to a decision request in the inbox exactly when confidence is below ' +
      'autoPromoteThreshold. Otherwise decisionRequestId is null, the assumed value applies and ' +
      'is recorded as such, and a person can still promote it. With an actionKey of which the job ' +
      'has an uncertainty that is open, or answered and not taken, that one is the answer. A job ' +
      'token asks for its job, without actionKey and onDeadline assume, and while the job has ' +
      'fewer than 50 open questions.',
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
    errors: ['RUN_NOT_FOUND', 'JOB_NOT_FOUND', 'LIMIT_REACHED', ...claimErrors],
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
    path: '/control-plane/v1/uncertainties/add-resolution',
    tag: 'Uncertainties',
    scopes: ['decide'],
    origin: 'specification',
    console: true,
    repeat: { withKey: 'idempotencyKey' },
    summary: 'Answer an uncertainty',
    description:
      'The first resolution wins. A second is ALREADY_RESOLVED, whose message says who resolved ' +
      'it, when and how; unless supersede is true, which keeps both in order. In the same ' +
      'transaction, and exactly once, the blocked job that asked goes back to pending with the ' +
      "answer. Without such a job, an apply_decision job is enqueued for the run's repository. " +
      'With undoMs, the answer is stored and final for others at once, and handed over only ' +
      'after that time, until when withdraw-resolution takes it back.',
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
      undoMs: Defaulted(Integer(0, UNDO_MS_MAX, 'How long it can be withdrawn.'), 0),
      idempotencyKey: Type.Optional(IdempotencyKey),
    }),
    response: Ok({
      resolutionId: Id('resolution'),
      uncertainty: Uncertainty,
      idempotent: Type.Optional(Type.Boolean()),
    }),
    errors: ['UNCERTAINTY_NOT_FOUND', 'JOB_NOT_FOUND', 'ALREADY_RESOLVED'],
    example: {
      request: { ...exampleRef, mode: 'answered', value: 'no', confidence: 1 },
      response: {
        ok: true,
        resolutionId: exampleResolution.resolutionId,
        uncertainty: resolvedUncertainty,
      },
    },
  }),
  resolveAlike: uncertaintiesResolveAlike,
  withdrawResolution: defineEndpoint({
    name: 'uncertaintiesWithdrawResolution',
    path: '/control-plane/v1/uncertainties/withdraw-resolution',
    tag: 'Uncertainties',
    scopes: ['decide'],
    console: true,
    repeat: 'safe',
    summary: 'Take back an answer that was not handed over yet',
    description:
      'Removes the last resolution, before handOverAt, for the person or program that gave it. ' +
      'The uncertainty is then as it was before. After that time it is ALREADY_RESOLVED: a ' +
      'resolution with supersede replaces it. A resolution that was withdrawn before changes ' +
      'nothing.',
    request: Type.Object({ ...UncertaintyRef, resolutionId: Id('resolution') }),
    response: Ok({ uncertainty: Uncertainty }),
    errors: ['UNCERTAINTY_NOT_FOUND', 'ALREADY_RESOLVED'],
    example: {
      request: { ...exampleRef, resolutionId: exampleResolution.resolutionId },
      response: { ok: true, uncertainty: openUncertainty },
    },
  }),
  get: defineEndpoint({
    name: 'uncertaintiesGet',
    path: '/control-plane/v1/uncertainties/get',
    tag: 'Uncertainties',
    scopes: ['read', 'agent', 'decide'],
    console: true,
    repeat: 'safe',
    jobToken: 'by-operation',
    summary: 'Read an uncertainty with its resolutions',
    description:
      'Returns it in any status. situation says what waits for the answer and where the question ' +
      'came from; it is null for the token of a job.',
    request: Type.Object(UncertaintyRef),
    response: Ok({ uncertainty: Uncertainty, situation: Nullable(DecisionSituation) }),
    errors: ['UNCERTAINTY_NOT_FOUND'],
    example: {
      request: exampleRef,
      response: { ok: true, uncertainty: resolvedUncertainty, situation: exampleSituation },
    },
  }),
  list: defineEndpoint({
    name: 'uncertaintiesList',
    path: '/control-plane/v1/uncertainties/list',
    tag: 'Uncertainties',
    scopes: ['read', 'agent', 'decide'],
    console: true,
    repeat: 'safe',
    jobToken: 'own-run-or-job',
    summary: 'List uncertainties',
    description:
      'Newest first. The optional fields are filters. With view summary, each has the fields of a ' +
      'list row only, and long texts are left out.',
    request: Type.Object({
      workspaceId: Id('workspace'),
      status: Type.Optional(OneOf(uncertaintyStatuses)),
      ...uncertaintyFilters,
      view: Defaulted(OneOf(['whole', 'summary']), 'whole'),
      limit: ListLimit,
      cursor: Cursor,
    }),
    response: Ok({
      uncertainties: List(ListedUncertainty, LIST_LIMIT_MAX),
      nextCursor: NextCursor,
    }),
    example: {
      request: { workspaceId: exampleIds.workspace, status: 'open' },
      response: { ok: true, uncertainties: [openUncertainty], nextCursor: null },
    },
  }),
  inbox: uncertaintiesInbox,
  counts: defineEndpoint({
    name: 'uncertaintiesCounts',
    path: '/control-plane/v1/uncertainties/counts',
    tag: 'Uncertainties',
    scopes: ['read', 'agent', 'decide'],
    console: true,
    repeat: 'safe',
    jobToken: 'own-run-or-job',
    summary: 'Count uncertainties by status',
    description:
      `Counting stops at ${UNCERTAINTY_COUNT_MAX}. capped lists the statuses that have at least ` +
      'as many as their count, and maybe more. The optional fields are filters, as in ' +
      'uncertainties/list.',
    request: Type.Object({ workspaceId: Id('workspace'), ...uncertaintyFilters }),
    response: Ok({ counts: UncertaintyCounts, capped: List(OneOf(uncertaintyStatuses), 3) }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: {
        ok: true,
        counts: { assumed: 12, open: 3, resolved: 1_000 },
        capped: ['resolved'],
      },
    },
  }),
  promote: defineEndpoint({
    name: 'uncertaintiesPromote',
    path: '/control-plane/v1/uncertainties/promote',
    tag: 'Uncertainties',
    scopes: ['decide'],
    console: true,
    repeat: 'safe',
    summary: 'Promote an uncertainty to a decision request in the inbox',
    description: 'One that is already promoted is returned unchanged.',
    request: Type.Object(UncertaintyRef),
    response: Ok({ decisionRequestId: Id('decisionRequest'), uncertainty: Uncertainty }),
    errors: ['UNCERTAINTY_NOT_FOUND', 'ALREADY_RESOLVED'],
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
    path: '/control-plane/v1/uncertainties/wait',
    tag: 'Uncertainties',
    scopes: ['read', 'agent', 'decide'],
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
      peek: Defaulted(
        Type.Boolean({
          description: 'The job has not received the answer yet: it takes it later.',
        }),
        false,
      ),
    }),
    response: Ok({ uncertainty: Uncertainty }),
    errors: ['UNCERTAINTY_NOT_FOUND'],
    example: {
      request: { ...exampleRef, waitMs: 60_000 },
      response: { ok: true, uncertainty: resolvedUncertainty },
    },
  }),
  takeAnswer: defineEndpoint({
    name: 'uncertaintiesTakeAnswer',
    path: '/control-plane/v1/uncertainties/take-answer',
    tag: 'Uncertainties',
    scopes: ['agent'],
    console: false,
    repeat: 'safe',
    summary: 'Take the answer for the action that it is about',
    description:
      'Marks the answer as received and used. The agent that holds the job takes it, fenced by ' +
      'its claim. Taken is false if the answer is missing or can still be withdrawn, or if ' +
      'another agent has taken it before.',
    request: Type.Object({
      ...UncertaintyRef,
      jobId: Id('job'),
      agentId: Id('agent'),
      claimGeneration: ClaimGeneration,
    }),
    response: Ok({ taken: Type.Boolean(), uncertainty: Uncertainty }),
    errors: ['UNCERTAINTY_NOT_FOUND', 'JOB_NOT_FOUND', ...claimErrors],
    example: {
      request: {
        ...exampleRef,
        jobId: exampleIds.job,
        agentId: exampleIds.agent,
        claimGeneration: 1,
      },
      response: { ok: true, taken: true, uncertainty: resolvedUncertainty },
    },
  }),
} as const;
