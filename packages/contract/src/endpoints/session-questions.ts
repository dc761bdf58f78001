import Type from 'typebox';
import { defineEndpoint } from '../endpoint.ts';
import { Defaulted, Id, Integer, Ok, Text, Timestamp } from '../schema.ts';
import { exampleIds } from './example-ids.ts';
import {
  exampleDecisionRequestId,
  exampleUncertaintyId,
  sessionQuestion,
} from './uncertainty-examples.ts';
import {
  DECISION_WAIT_MS_DEFAULT,
  DECISION_WAIT_MS_MAX,
  OwnSession,
  Uncertainty,
} from './uncertainty-schemas.ts';

/** The values of the two answers to a question of a session; other words refuse. */
export const sessionAnswers = { allow: 'allow', refuse: 'refuse' } as const;
/** How long a question of a session lives without a call that waits for it. */
export const SESSION_LEASE_MS = 60_000;
/** The same before its first call, and after one that broke off: time for the next one. */
export const SESSION_GONE_MS = 5_000;

const SessionQuestionRef = { workspaceId: Id('workspace'), uncertaintyId: Id('uncertainty') };
const exampleRef = { workspaceId: exampleIds.workspace, uncertaintyId: exampleUncertaintyId };

export const sessionQuestions = {
  ask: defineEndpoint({
    name: 'sessionQuestionsAsk',
    path: '/control-plane/v1/session-questions/ask',
    tag: 'Uncertainties',
    scopes: ['decide'],
    console: false,
    // A question whose answer was lost is withdrawn, because no call waits for it.
    repeat: 'once',
    summary: 'Ask the person of this machine whether their coding tool may act',
    description:
      'For the device token of a person only. The question is an approval in the inbox of that ' +
      'person: no other member reads it, hears of it or answers it, no rule answers it, and no job ' +
      'applies the answer. The person answers at the console; tokens cannot, since the tool may ' +
      `reach that of its machine. Without a wait for ${SESSION_LEASE_MS / 1_000} s it is withdrawn.`,
    request: Type.Object({
      workspaceId: Id('workspace'),
      session: OwnSession,
      remoteUrlHash: Type.Optional(
        Text(64, { minLength: 64, description: 'Of the repository, as agents link it.' }),
      ),
      prompt: Text(8_000, { minLength: 1, description: 'The question.' }),
      context: Defaulted(Text(120_000, { description: 'The command, or what changes.' }), ''),
      deadlineAt: Timestamp('When the session asks at its terminal instead.'),
    }),
    response: Ok({ uncertaintyId: Id('uncertainty'), decisionRequestId: Id('decisionRequest') }),
    errors: ['LIMIT_REACHED'],
    example: {
      request: {
        workspaceId: exampleIds.workspace,
        session: { tool: 'claude', machine: 'ada-laptop', sessionId: '636182fc' },
        prompt: sessionQuestion.prompt,
        context: sessionQuestion.context,
        deadlineAt: '2026-11-02T10:03:00.000Z',
      },
      response: {
        ok: true,
        uncertaintyId: exampleUncertaintyId,
        decisionRequestId: exampleDecisionRequestId,
      },
    },
  }),
  wait: defineEndpoint({
    name: 'sessionQuestionsWait',
    path: '/control-plane/v1/session-questions/wait',
    tag: 'Uncertainties',
    scopes: ['decide'],
    console: false,
    repeat: 'safe',
    summary: 'Wait for the answer to a question of a session',
    description:
      'Keeps the question open, and answers when it is no longer open, at the latest after ' +
      'waitMs. If status is open, the time ran out: call again. A question whose caller is gone ' +
      `for ${SESSION_GONE_MS / 1_000} s is withdrawn.`,
    request: Type.Object({
      ...SessionQuestionRef,
      waitMs: Defaulted(Integer(0, DECISION_WAIT_MS_MAX), DECISION_WAIT_MS_DEFAULT),
    }),
    response: Ok({ uncertainty: Uncertainty }),
    errors: ['UNCERTAINTY_NOT_FOUND'],
    example: {
      request: { ...exampleRef, waitMs: 25_000 },
      response: { ok: true, uncertainty: sessionQuestion },
    },
  }),
  withdraw: defineEndpoint({
    name: 'sessionQuestionsWithdraw',
    path: '/control-plane/v1/session-questions/withdraw',
    tag: 'Uncertainties',
    scopes: ['decide'],
    console: false,
    repeat: 'safe',
    summary: 'Take a question of a session out of the inbox',
    description: 'Dismisses it, because the session asks at its terminal or has ended.',
    request: Type.Object(SessionQuestionRef),
    response: Ok({ uncertainty: Uncertainty }),
    errors: ['UNCERTAINTY_NOT_FOUND'],
    example: { request: exampleRef, response: { ok: true, uncertainty: sessionQuestion } },
  }),
} as const;
