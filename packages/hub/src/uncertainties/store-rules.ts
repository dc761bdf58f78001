import type { Reader, Tx } from '../db/engine.ts';
import { updateRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { DecisionRulesTable } from '../db/schema/uncertainties.ts';
import type { UncertaintyRow } from './store.ts';

export type RuleRow = DecisionRulesTable;

export function readRule(
  reader: Reader,
  workspaceId: string,
  ruleId: string,
): Promise<RuleRow | undefined> {
  return reader.firstSql<RuleRow>(
    `SELECT ${allColumns.decision_rules} FROM decision_rules
     WHERE workspace_id = ? AND rule_id = ?`,
    [workspaceId, ruleId],
  );
}

/** The rules of a workspace: those that answer at a time, then the others, each newest first. */
export function listRules(
  reader: Reader,
  workspaceId: string,
  nowMs: number,
  limit: number,
): Promise<RuleRow[]> {
  return reader.allSql<RuleRow>(
    `SELECT ${allColumns.decision_rules} FROM decision_rules WHERE workspace_id = ?
     ORDER BY CASE WHEN revoked_at IS NULL AND expires_at > ? THEN 0 ELSE 1 END, rule_id DESC
     LIMIT ?`,
    [workspaceId, nowMs, limit],
  );
}

/** The rules of a repository that answer at a time. */
export function listLiveRules(
  reader: Reader,
  { workspace_id, repo_id }: Pick<UncertaintyRow, 'workspace_id' | 'repo_id'>,
  nowMs: number,
  limit: number,
): Promise<RuleRow[]> {
  return reader.allSql<RuleRow>(
    `SELECT ${allColumns.decision_rules} FROM decision_rules
     WHERE workspace_id = ? AND repo_id = ? AND revoked_at IS NULL AND expires_at > ?
     ORDER BY rule_id LIMIT ?`,
    [workspace_id, repo_id, nowMs, limit],
  );
}

export async function countLiveRules(
  reader: Reader,
  workspaceId: string,
  nowMs: number,
): Promise<number> {
  const row = await reader.firstSql<{ count: number }>(
    `SELECT COUNT(*) AS count FROM decision_rules
     WHERE workspace_id = ? AND revoked_at IS NULL AND expires_at > ?`,
    [workspaceId, nowMs],
  );
  return row?.count ?? 0;
}

/** Writes when a rule was revoked, and how often it was used. */
export async function updateRule(
  tx: Tx,
  { workspace_id, rule_id }: RuleRow,
  changes: Partial<Pick<RuleRow, 'revoked_at' | 'uses' | 'last_used_at'>>,
): Promise<void> {
  await updateRows(tx, 'decision_rules', { workspace_id, rule_id }, changes);
}

export type ActionRow = Pick<
  UncertaintyRow,
  'uncertainty_id' | 'repo_id' | 'run_id' | 'job_id' | 'created_at'
> & { action: string; beginning: string };

/** The questions of a repository about actions, newest first. */
export function listActions(
  reader: Reader,
  workspaceId: string,
  repoId: string,
  limit: number,
): Promise<ActionRow[]> {
  return reader.allSql<ActionRow>(
    `SELECT uncertainty_id, repo_id, run_id, job_id, created_at, action,
       substr(prompt, 1, 2000) AS beginning
     FROM uncertainties WHERE workspace_id = ? AND repo_id = ? AND action IS NOT NULL
     ORDER BY uncertainty_id DESC LIMIT ?`,
    [workspaceId, repoId, limit],
  );
}
