import Type, { type Static } from 'typebox';
import { Id, Integer, List, Nullable, Ok, OneOf, Text, Timestamp } from '../../schema.ts';
import { exampleIds } from '../example-ids.ts';
import { TITLE_CHARS_MAX } from '../job-schemas.ts';
import { exampleUncertaintyId } from '../uncertainty-examples.ts';
import { ACTION_WORDS_MAX, AskedAction } from '../uncertainty-schemas.ts';
import { defineConsoleEndpoint } from './fields.ts';

/** Rules of a workspace that answer; those that have ended are not counted. */
export const DECISION_RULES_MAX = 500;
/** Past questions that a preview looks at: the newest of the repository about actions. */
export const RULE_QUESTIONS_EXAMINED = 500;
export const RULE_QUESTIONS_MAX = 50;
export const RULE_DAYS_MAX = 90;
/** Fewer words would leave the choice of the program's work to the tool. */
export const RULE_PREFIX_WORDS_MIN = 2;

export const ruleScopes = ['job', 'run', 'repository'] as const;
export type RuleScope = (typeof ruleScopes)[number];
export const ruleVerdicts = ['allow', 'refuse'] as const;

const shapeFields = {
  scope: OneOf(ruleScopes, {
    description: 'The questions that it answers: those of the same job, run or repository.',
  }),
  prefixWords: Type.Optional(
    Integer(
      RULE_PREFIX_WORDS_MIN,
      ACTION_WORDS_MAX,
      'Commands that begin with this many words of the question. Absent: exactly the same action.',
    ),
  ),
};

/** An answer of a person that also answers later questions about the same action. */
export const DecisionRule = Type.Object({
  ruleId: Id('decisionRule'),
  ...shapeFields,
  repoId: Id('repository'),
  runId: Nullable(Id('run', 'Of scope run and job, if the job has one.')),
  jobId: Nullable(Id('job', 'Of scope job.')),
  kind: AskedAction.properties.kind,
  words: AskedAction.properties.words,
  verdict: OneOf(ruleVerdicts),
  uncertaintyId: Id('uncertainty', 'The question whose answer it repeats.'),
  createdAt: Timestamp(),
  createdBy: Type.Object({ id: Text(200), name: Nullable(Text(200)) }),
  expiresAt: Timestamp(),
  revokedAt: Nullable(Timestamp()),
  uses: Integer(0, Number.MAX_SAFE_INTEGER, 'How many questions it has answered.'),
  lastUsedAt: Nullable(Timestamp()),
});
export type DecisionRule = Static<typeof DecisionRule>;

const exampleRule: DecisionRule = {
  ruleId: 'rule_1j78s1og0003qjivc1q2',
  scope: 'repository',
  prefixWords: 3,
  repoId: exampleIds.repository,
  runId: null,
  jobId: null,
  kind: 'execute',
  words: ['npm', 'run', 'migrate'],
  verdict: 'allow',
  uncertaintyId: exampleUncertaintyId,
  createdAt: '2026-11-02T09:00:00.000Z',
  createdBy: { id: 'usr_1j78s1og0003qjivc1q2', name: 'Ada Lovelace' },
  expiresAt: '2026-11-09T09:00:00.000Z',
  revokedAt: null,
  uses: 4,
  lastUsedAt: '2026-11-02T10:00:00.000Z',
};
const exampleShape = {
  workspaceId: exampleIds.workspace,
  uncertaintyId: exampleUncertaintyId,
  scope: exampleRule.scope,
  prefixWords: 3,
};
const ShapeRequest = {
  workspaceId: Id('workspace'),
  uncertaintyId: Id('uncertainty', 'A question about an action, which a person has answered.'),
  ...shapeFields,
};

export const decisionRules = {
  list: defineConsoleEndpoint({
    name: 'consoleDecisionRuleList',
    path: '/console-api/v1/decision-rules/list',
    repeat: 'safe',
    summary: 'List the rules that answer questions',
    description: 'Those that answer now, then those that have ended, each newest first, up to 500.',
    request: Type.Object({ workspaceId: Id('workspace') }),
    response: Ok({ rules: List(DecisionRule, DECISION_RULES_MAX) }),
    example: {
      request: { workspaceId: exampleIds.workspace },
      response: { ok: true, rules: [exampleRule] },
    },
  }),
  preview: defineConsoleEndpoint({
    name: 'consoleDecisionRulePreview',
    path: '/console-api/v1/decision-rules/preview',
    repeat: 'safe',
    summary: 'Show the past questions that a rule would have answered',
    description: 'Newest first, of the last 500 questions of the repository about actions.',
    request: Type.Object(ShapeRequest),
    response: Ok({
      verdict: OneOf(ruleVerdicts),
      words: AskedAction.properties.words,
      count: Integer(0, RULE_QUESTIONS_EXAMINED),
      questions: List(
        Type.Object({
          uncertaintyId: Id('uncertainty'),
          title: Text(TITLE_CHARS_MAX),
          createdAt: Timestamp(),
        }),
        RULE_QUESTIONS_MAX,
      ),
    }),
    errors: ['UNCERTAINTY_NOT_FOUND'],
    example: {
      request: exampleShape,
      response: {
        ok: true,
        verdict: 'allow',
        words: exampleRule.words,
        count: 1,
        questions: [
          {
            uncertaintyId: exampleUncertaintyId,
            title: 'claude asks to run a command: npm run migrate',
            createdAt: '2026-11-02T08:00:00.000Z',
          },
        ],
      },
    },
  }),
  create: defineConsoleEndpoint({
    name: 'consoleDecisionRuleCreate',
    path: '/console-api/v1/decision-rules/create',
    repeat: 'once',
    summary: 'Make an answer a rule',
    description:
      'The answer that the question has is given to later questions about such an action, without ' +
      'asking. Audited. The rule answers no more when it expires or is revoked, or when the person ' +
      'may not answer any more.',
    request: Type.Object({ ...ShapeRequest, expiresAt: Timestamp('Within 90 days.') }),
    response: Ok({ rule: DecisionRule }),
    errors: ['UNCERTAINTY_NOT_FOUND', 'LIMIT_REACHED'],
    example: {
      request: { ...exampleShape, expiresAt: exampleRule.expiresAt },
      response: { ok: true, rule: { ...exampleRule, uses: 0, lastUsedAt: null } },
    },
  }),
  revoke: defineConsoleEndpoint({
    name: 'consoleDecisionRuleRevoke',
    path: '/console-api/v1/decision-rules/revoke',
    repeat: 'safe',
    summary: 'End a rule',
    description: 'Answers that it has given stay. Audited.',
    request: Type.Object({ workspaceId: Id('workspace'), ruleId: Id('decisionRule') }),
    response: Ok({ rule: DecisionRule }),
    errors: ['RULE_NOT_FOUND'],
    example: {
      request: { workspaceId: exampleIds.workspace, ruleId: exampleRule.ruleId },
      response: { ok: true, rule: { ...exampleRule, revokedAt: '2026-11-03T09:00:00.000Z' } },
    },
  }),
} as const;
