import {
  type AskedAction,
  type consoleEndpoints,
  DECISION_RULES_MAX,
  type DecisionRule,
  type RequestInput,
  RULE_DAYS_MAX,
  RULE_QUESTIONS_EXAMINED,
  RULE_QUESTIONS_MAX,
} from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import { nullableTimestampOf, timestampOf } from '../base/clock.ts';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import { insertRow } from '../db/row-write.ts';
import { titleOf } from '../jobs/title.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { shapeOf } from './answer-by-rule.ts';
import { requireUncertainty } from './require-uncertainty.ts';
import { COMMAND_KIND, isAnsweredBy, type RuleShape } from './rule-match.ts';
import type { UncertaintyRow } from './store.ts';
import { readResolution } from './store-resolutions.ts';
import {
  countLiveRules,
  listActions,
  listRules,
  type RuleRow,
  readRule,
  updateRule,
} from './store-rules.ts';

type Rows = typeof consoleEndpoints.decisionRules;
type ShapeInput = RequestInput<Rows['preview']['request']>;

const DAY_MS = 86_400_000;

/** The rules of a workspace, those that answer now first. @throws HubError WORKSPACE_NOT_FOUND */
export async function listDecisionRules(
  { database: { reader }, clock }: Pick<HubDeps, 'database' | 'clock'>,
  principal: Principal,
  workspaceId: string,
): Promise<DecisionRule[]> {
  await requireAct(reader, principal, workspaceId, 'workspace.read');
  return (await listRules(reader, workspaceId, clock.nowMs(), DECISION_RULES_MAX)).map(presentRule);
}

/**
 * The past questions that a rule would have answered, newest first.
 *
 * @throws HubError WORKSPACE_NOT_FOUND, UNCERTAINTY_NOT_FOUND, INVALID_REQUEST, NOT_ALLOWED
 */
export async function previewRule(
  { database: { reader } }: Pick<HubDeps, 'database'>,
  principal: Principal,
  input: ShapeInput,
) {
  const { workspaceId, uncertaintyId } = input;
  await requireAct(reader, principal, workspaceId, 'decision-rule.manage');
  const { shape, verdict } = await draftRule(reader, principal, input);
  const asked = await listActions(reader, workspaceId, shape.repoId, RULE_QUESTIONS_EXAMINED);
  const found = asked.filter(
    (row) =>
      row.uncertainty_id !== uncertaintyId &&
      isAnsweredBy(shape, {
        repoId: row.repo_id,
        runId: row.run_id,
        jobId: row.job_id,
        action: JSON.parse(row.action),
      }),
  );
  return {
    verdict,
    words: [...shape.words],
    count: found.length,
    questions: found.slice(0, RULE_QUESTIONS_MAX).map((row) => ({
      uncertaintyId: row.uncertainty_id,
      title: titleOf(row.beginning),
      createdAt: timestampOf(row.created_at),
    })),
  };
}

/**
 * Makes the answer to a question a rule.
 *
 * @throws HubError WORKSPACE_NOT_FOUND, UNCERTAINTY_NOT_FOUND, INVALID_REQUEST, LIMIT_REACHED,
 *   NOT_ALLOWED
 */
export function createRule(
  { database, ids }: Pick<HubDeps, 'database' | 'ids'>,
  principal: Principal,
  input: RequestInput<Rows['create']['request']>,
): Promise<DecisionRule> {
  const { workspaceId, uncertaintyId, expiresAt } = input;
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'decision-rule.manage');
    const { shape, verdict } = await draftRule(tx, principal, input);
    const expiresMs = Date.parse(expiresAt);
    if (!(expiresMs > tx.nowMs && expiresMs <= tx.nowMs + RULE_DAYS_MAX * DAY_MS)) {
      throw invalidField('/expiresAt', `must be within the next ${RULE_DAYS_MAX} days`);
    }
    if ((await countLiveRules(tx, workspaceId, tx.nowMs)) >= DECISION_RULES_MAX) {
      const limit = `A workspace has at most ${DECISION_RULES_MAX} rules`;
      throw new HubError('LIMIT_REACHED', `${limit}: revoke one first.`);
    }
    const row: RuleRow = {
      workspace_id: workspaceId,
      rule_id: ids('decisionRule'),
      scope: shape.scope,
      repo_id: shape.repoId,
      run_id: shape.runId,
      job_id: shape.jobId,
      kind: shape.kind,
      words: JSON.stringify(shape.words),
      is_prefix: shape.isPrefix ? 1 : 0,
      verdict,
      uncertainty_id: uncertaintyId,
      created_at: tx.nowMs,
      created_by: personId,
      created_by_name: principal.displayName,
      expires_at: expiresMs,
      revoked_at: null,
      uses: 0,
      last_used_at: null,
    };
    insertRow(tx, 'decision_rules', row);
    const rule = presentRule(row);
    const { scope, kind, words } = rule;
    await appendAudit(tx, {
      workspaceId,
      actor: principal.principalId,
      action: 'decision-rule.create',
      subject: row.rule_id,
      data: { scope, kind, words, verdict, expiresAt },
    });
    return rule;
  });
}

/** Ends a rule. @throws HubError WORKSPACE_NOT_FOUND, RULE_NOT_FOUND, NOT_ALLOWED */
export function revokeRule(
  { database }: Pick<HubDeps, 'database'>,
  principal: Principal,
  { workspaceId, ruleId }: { workspaceId: string; ruleId: string },
): Promise<DecisionRule> {
  return database.write(workspaceId, async (tx) => {
    await requireAct(tx, principal, workspaceId, 'decision-rule.manage');
    const row = await readRule(tx, workspaceId, ruleId);
    if (row === undefined) throw new HubError('RULE_NOT_FOUND');
    if (row.revoked_at !== null) return presentRule(row);
    await updateRule(tx, row, { revoked_at: tx.nowMs });
    await appendAudit(tx, {
      workspaceId,
      actor: principal.principalId,
      action: 'decision-rule.revoke',
      subject: ruleId,
      data: { uses: row.uses },
    });
    return presentRule({ ...row, revoked_at: tx.nowMs });
  });
}

/** The shape and verdict of a rule that repeats the answer to a question. */
async function draftRule(
  reader: Reader,
  principal: Principal,
  { workspaceId, uncertaintyId, scope, prefixWords }: ShapeInput,
): Promise<{ shape: RuleShape; verdict: RuleRow['verdict'] }> {
  const row = await requireUncertainty(reader, principal, workspaceId, uncertaintyId);
  const action: AskedAction | null = row.action === null ? null : JSON.parse(row.action);
  const { repo_id: repoId, run_id: runId, job_id: jobId } = row;
  if (action === null || repoId === null) {
    throw invalidField('/uncertaintyId', 'must be about an action that its agent describes');
  }
  const verdict = await verdictOf(reader, row, action);
  if (scope === 'run' && runId === null) throw invalidField('/scope', 'is run, but it has none');
  const { kind, words } = action;
  const isPrefix = prefixWords !== undefined;
  if (isPrefix && (kind !== COMMAND_KIND || prefixWords > words.length)) {
    throw invalidField('/prefixWords', 'must be at most the words of its command');
  }
  return {
    shape: {
      scope,
      repoId,
      runId: scope === 'repository' ? null : runId,
      jobId: scope === 'job' ? jobId : null,
      kind,
      isPrefix,
      words: isPrefix ? words.slice(0, prefixWords) : words,
    },
    verdict,
  };
}

/** Only an answer that means this action, once, can be repeated. */
async function verdictOf(
  reader: Reader,
  row: UncertaintyRow,
  { allow, refuse }: AskedAction,
): Promise<RuleRow['verdict']> {
  const last = await readResolution(reader, row.workspace_id, row.uncertainty_id);
  if (row.hand_over_at !== null) {
    throw invalidField('/uncertaintyId', 'must have an answer that cannot be undone any more');
  }
  if (last?.mode === 'answered') {
    if (last.value === allow) return 'allow';
    if (last.value === refuse) return 'refuse';
  }
  throw invalidField(
    '/uncertaintyId',
    'must have an answer that allows or refuses the action once',
  );
}

function presentRule(row: RuleRow): DecisionRule {
  const { words, isPrefix, ...shape } = shapeOf(row);
  return {
    ruleId: row.rule_id,
    ...shape,
    words: [...words],
    ...(isPrefix && { prefixWords: words.length }),
    verdict: row.verdict,
    uncertaintyId: row.uncertainty_id,
    createdAt: timestampOf(row.created_at),
    createdBy: { id: row.created_by, name: row.created_by_name },
    expiresAt: timestampOf(row.expires_at),
    revokedAt: nullableTimestampOf(row.revoked_at),
    uses: row.uses,
    lastUsedAt: nullableTimestampOf(row.last_used_at),
  };
}
