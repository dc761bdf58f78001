import { type AskedAction, DECISION_RULES_MAX } from '@signalbox/contract';
import { scopesOfRole } from '../access/policy.ts';
import { readRole } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { resolveUncertainty } from './resolve.ts';
import { isAnsweredBy, type RuleShape } from './rule-match.ts';
import type { UncertaintyRow } from './store.ts';
import { listLiveRules, type RuleRow, updateRule } from './store-rules.ts';

/**
 * The rule that answers a new question; undefined: a person does. Rules that disagree leave it to a
 * person, and so does one whose person may not answer any more.
 */
export async function findRule(tx: Tx, row: UncertaintyRow): Promise<RuleRow | undefined> {
  if (row.action === null || row.status !== 'open') return undefined;
  const action: AskedAction = JSON.parse(row.action);
  const place = { repoId: row.repo_id, runId: row.run_id, jobId: row.job_id, action };
  const rules = await listLiveRules(tx, row, tx.nowMs, DECISION_RULES_MAX);
  const found = rules.filter((rule) => isAnsweredBy(shapeOf(rule), place));
  const [first] = found;
  if (first === undefined || found.some(({ verdict }) => verdict !== first.verdict))
    return undefined;
  if (action[first.verdict] === undefined) return undefined;
  for (const rule of found) {
    const role = await readRole(tx, rule.created_by, row.workspace_id);
    if (role !== null && scopesOfRole(role).includes('decide')) return rule;
  }
  return undefined;
}

/** Answers a question as the person who made the rule would, and counts the use. */
export async function answerByRule(
  deps: HubDeps,
  tx: Tx,
  row: UncertaintyRow,
  rule: RuleRow,
): Promise<void> {
  const action: AskedAction = JSON.parse(row.action ?? '');
  const resolution = await resolveUncertainty(deps, tx, row, {
    mode: 'answered',
    value: action[rule.verdict] ?? '',
    confidence: 1,
    commit_sha: null,
    created_by_job_id: null,
    created_by: rule.created_by_name,
    undoMs: 0,
    supersede: false,
    created_by_id: rule.created_by,
    rule_id: rule.rule_id,
  });
  if (resolution === null) throw new Error('a new question has an answer already');
  await updateRule(tx, rule, { uses: rule.uses + 1, last_used_at: tx.nowMs });
  await appendAudit(tx, {
    workspaceId: row.workspace_id,
    actor: rule.created_by,
    action: 'uncertainty.resolve',
    subject: row.uncertainty_id,
    data: { resolutionId: resolution.resolution_id, mode: 'answered', ruleId: rule.rule_id },
  });
}

export function shapeOf(rule: RuleRow): RuleShape {
  return {
    scope: rule.scope,
    repoId: rule.repo_id,
    runId: rule.run_id,
    jobId: rule.job_id,
    kind: rule.kind,
    words: JSON.parse(rule.words),
    isPrefix: rule.is_prefix === 1,
  };
}
