import type {
  ResolutionMode,
  RuleScope,
  UncertaintyKind,
  UncertaintyStatus,
} from '@signalbox/contract';
import { type Flag, of, type RowOf, table } from './table.ts';

/** Questions of agents; a promoted one is a decision request. */
const uncertainties = table('workspace_id, uncertainty_id', {
  workspace_id: 'TEXT NOT NULL',
  uncertainty_id: 'TEXT NOT NULL',
  /** Null if not promoted. */
  decision_request_id: 'TEXT',
  /** Null: the job that asks has no run. */
  run_id: 'TEXT',
  job_id: 'TEXT',
  status: of<UncertaintyStatus>('TEXT NOT NULL'),
  prompt: 'TEXT NOT NULL',
  kind: of<UncertaintyKind>('TEXT NOT NULL'),
  context: 'TEXT NOT NULL',
  confidence: 'DOUBLE PRECISION NOT NULL',
  impact: 'TEXT NOT NULL',
  reversibility: 'TEXT NOT NULL',
  assumed_value: 'TEXT NOT NULL',
  assumed_reasoning: 'TEXT NOT NULL',
  auto_promote_threshold: 'DOUBLE PRECISION NOT NULL',
  /** JSON array of options. */
  options: 'TEXT NOT NULL',
  recommended_value: 'TEXT',
  deadline_at: 'BIGINT',
  on_deadline: of<'assume' | 'keep_waiting'>('TEXT NOT NULL'),
  created_by: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  promoted_at: 'BIGINT',
  /** The mode of the current resolution. */
  resolved_at: 'BIGINT',
  /** The job that got the answer: the one that asked, or one that was created to apply it. */
  answer_job_id: 'TEXT',
  /** When that job first saw the answer; null: not yet. */
  answer_seen_at: 'BIGINT',
  /** The action of a tool that it is about, within its job; null: it is about no action. */
  action_key: 'TEXT',
  /** When an agent took the answer for that action; null: not yet. */
  taken_at: 'BIGINT',
  taken_by_agent_id: 'TEXT',
  /** The repository of the job or the run; null if a hub of an older version wrote the row. */
  repo_id: 'TEXT',
  /** Who enqueued the job that asks; without a job, who asked. */
  requested_by: 'TEXT',
  /** The name of that principal. */
  created_by_name: 'TEXT',
  /** When the last resolution is handed over; null: without one, or afterwards. */
  hand_over_at: 'BIGINT',
  /** The same for questions that one answer may resolve together; null: none may be. */
  alike_key: 'TEXT',
  /** JSON `AskedAction`; null: it is about no action that rules compare. */
  action: 'TEXT',
  /**
   * JSON `OwnSession` of the person in `requested_by`, who alone may know of the question; null: a
   * job or a program asks.
   */
  session: 'TEXT',
  /** Until when a session is taken to wait; null: no session asks. */
  waited_until: 'BIGINT',
});
export type UncertaintiesTable = RowOf<typeof uncertainties>;

/** All resolutions of an uncertainty; the one with the highest seq is current. */
const resolutions = table('workspace_id, uncertainty_id, seq', {
  workspace_id: 'TEXT NOT NULL',
  uncertainty_id: 'TEXT NOT NULL',
  seq: 'INTEGER NOT NULL',
  resolution_id: 'TEXT NOT NULL',
  mode: of<ResolutionMode>('TEXT NOT NULL'),
  value: 'TEXT NOT NULL',
  confidence: 'DOUBLE PRECISION NOT NULL',
  commit_sha: 'TEXT',
  created_by_job_id: 'TEXT',
  /** The name of the person who resolved it; null: the deadline did. */
  created_by: 'TEXT',
  created_at: 'BIGINT NOT NULL',
  /** The principal; null: the deadline, or written by an older version. */
  created_by_id: 'TEXT',
  /** Whether it was not handed over yet. */
  is_held: of<Flag>('INTEGER NOT NULL DEFAULT 0'),
  /** The rule of that person that answered; null: they did it themselves. */
  rule_id: 'TEXT',
});
export type ResolutionsTable = RowOf<typeof resolutions>;

/** Answers of people that also answer later questions. */
const decision_rules = table('workspace_id, rule_id', {
  workspace_id: 'TEXT NOT NULL',
  rule_id: 'TEXT NOT NULL',
  scope: of<RuleScope>('TEXT NOT NULL'),
  /** Rules of every scope are for one repository. */
  repo_id: 'TEXT NOT NULL',
  run_id: 'TEXT',
  job_id: 'TEXT',
  kind: 'TEXT NOT NULL',
  /** JSON array. */
  words: 'TEXT NOT NULL',
  is_prefix: of<Flag>('INTEGER NOT NULL'),
  verdict: of<'allow' | 'refuse'>('TEXT NOT NULL'),
  uncertainty_id: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  created_by: 'TEXT NOT NULL',
  created_by_name: 'TEXT',
  expires_at: 'BIGINT NOT NULL',
  revoked_at: 'BIGINT',
  uses: 'INTEGER NOT NULL',
  last_used_at: 'BIGINT',
});
export type DecisionRulesTable = RowOf<typeof decision_rules>;

export const uncertaintyTables = { uncertainties, resolutions, decision_rules };

export const uncertaintyIndexes = [
  `CREATE UNIQUE INDEX uncertainties_by_decision_request ON uncertainties
    (workspace_id, decision_request_id)
    WHERE decision_request_id IS NOT NULL`,
  'CREATE INDEX uncertainties_by_status ON uncertainties (workspace_id, status, uncertainty_id)',
  `CREATE INDEX uncertainties_by_urgency ON uncertainties (workspace_id, deadline_at, uncertainty_id)
    WHERE status = 'open'`,
  `CREATE INDEX uncertainties_by_run ON uncertainties (workspace_id, run_id, uncertainty_id)
    WHERE run_id IS NOT NULL`,
  `CREATE INDEX uncertainties_by_job ON uncertainties (workspace_id, job_id, uncertainty_id)
    WHERE job_id IS NOT NULL`,
  `CREATE INDEX uncertainties_unseen ON uncertainties (workspace_id, answer_job_id)
    WHERE answer_job_id IS NOT NULL AND answer_seen_at IS NULL`,
  `CREATE INDEX uncertainties_by_deadline ON uncertainties (deadline_at)
    WHERE status = 'open' AND on_deadline = 'assume' AND deadline_at IS NOT NULL`,
  `CREATE INDEX uncertainties_by_repository ON uncertainties
    (workspace_id, repo_id, uncertainty_id)`,
  `CREATE INDEX uncertainties_by_requester ON uncertainties
    (workspace_id, requested_by, uncertainty_id)`,
  `CREATE INDEX uncertainties_abandoned ON uncertainties (waited_until)
    WHERE status = 'open' AND waited_until IS NOT NULL`,
  `CREATE INDEX uncertainties_by_hand_over ON uncertainties (hand_over_at)
    WHERE hand_over_at IS NOT NULL`,
  `CREATE INDEX decision_rules_by_repository ON decision_rules (workspace_id, repo_id, rule_id)
    WHERE revoked_at IS NULL`,
];
