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
  Ok,
  OneOf,
  TEXT_CHARS_MAX,
  Text,
} from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import {
  exampleResolution,
  exampleUncertaintyId,
  openUncertainty,
} from './uncertainty-examples.ts';
import {
  ALIKE_QUESTIONS_MAX,
  AlikeResult,
  Confidence,
  INBOX_QUESTIONS_MAX,
  ListedUncertainty,
  resolutionModes,
  UNDO_MS_MAX,
  uncertaintyFilters,
} from './uncertainty-schemas.ts';

export const uncertaintiesInbox = defineEndpoint({
  name: 'uncertaintiesInbox',
  path: '/control-plane/v1/uncertainties/inbox',
  tag: 'Uncertainties',
  scopes: ['read', 'agent', 'decide'],
  console: true,
  repeat: 'safe',
  summary: 'List open questions, the most urgent first',
  description:
    'Summaries, in this order: overdue ones, the nearest deadline, the number of jobs that wait, ' +
    'the oldest. Questions of one repository with the same text and choices are one row, up to ' +
    `${ALIKE_QUESTIONS_MAX}: alikeIds names the others. Approvals are only alike if all else is ` +
    `the same and their impact is low. Orders the first ${INBOX_QUESTIONS_MAX} open questions, ` +
    'those with a deadline and then the oldest. The optional fields are filters.',
  request: Type.Object({
    workspaceId: Id('workspace'),
    ...uncertaintyFilters,
    limit: ListLimit,
    cursor: Cursor,
  }),
  response: Ok({
    uncertainties: List(ListedUncertainty, LIST_LIMIT_MAX),
    nextCursor: NextCursor,
  }),
  example: {
    request: { workspaceId: exampleIds.workspace },
    response: {
      ok: true,
      uncertainties: [{ ...openUncertainty, waitingJobs: 3 }],
      nextCursor: null,
    },
  },
});

export const uncertaintiesResolveAlike = defineEndpoint({
  name: 'uncertaintiesResolveAlike',
  path: '/control-plane/v1/uncertainties/resolve-alike',
  tag: 'Uncertainties',
  scopes: ['decide'],
  console: true,
  repeat: { withKey: 'idempotencyKey' },
  summary: 'Give the same answer to alike questions',
  description:
    'Adds a resolution of its own to each uncertainty, as add-resolution does, in one ' +
    'transaction. All have the text and the choices of the first. About approvals, and about ' +
    'actions of tools, all else is the same too, and impact is low: otherwise the call is ' +
    'INVALID_REQUEST. One that is resolved already does not prevent it for the others: there is ' +
    'one result for each, in the order of the request.',
  request: Type.Object({
    workspaceId: Id('workspace'),
    uncertaintyIds: Type.Array(Id('uncertainty'), {
      minItems: 1,
      maxItems: ALIKE_QUESTIONS_MAX,
      description: 'As in a row of the inbox. Each once.',
    }),
    mode: OneOf(resolutionModes),
    value: Text(TEXT_CHARS_MAX, {
      description: 'The answer. It may be empty with mode dismissed.',
    }),
    confidence: Confidence,
    undoMs: Defaulted(Integer(0, UNDO_MS_MAX, 'How long each can be withdrawn.'), 0),
    idempotencyKey: Type.Optional(IdempotencyKey),
  }),
  response: Ok({
    results: List(AlikeResult, ALIKE_QUESTIONS_MAX),
    idempotent: Type.Optional(Type.Boolean()),
  }),
  errors: ['UNCERTAINTY_NOT_FOUND'],
  example: {
    request: {
      workspaceId: exampleIds.workspace,
      uncertaintyIds: [exampleUncertaintyId],
      mode: 'answered',
      value: 'no',
      confidence: 1,
    },
    response: {
      ok: true,
      results: [
        {
          uncertaintyId: exampleUncertaintyId,
          result: 'resolved',
          resolutionId: exampleResolution.resolutionId,
        },
      ],
    },
  },
});
