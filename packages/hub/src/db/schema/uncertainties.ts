import type {
  ResolutionMode,
  RuleScope,
  UncertaintyKind,
  UncertaintyStatus,
} from '@signalbox/contract';

/** Questions of agents; a promoted one is a decision request. */
export interface UncertaintiesTable {
  workspace_id: string;
  uncertainty_id: string;
  /** Null if not promoted. */
  decision_request_id: string | null;
  /** The repository of the job or the run; null if a hub of an older version wrote the row. */
  repo_id: string | null;
  /** Null: the job that asks has no run. */
  run_id: string | null;
  job_id: string | null;
  status: UncertaintyStatus;
  prompt: string;
  kind: UncertaintyKind;
  context: string;
  confidence: number;
  impact: string;
  reversibility: string;
  assumed_value: string;
  assumed_reasoning: string;
  auto_promote_threshold: number;
  /** JSON array of options. */
  options: string;
  recommended_value: string | null;
  deadline_at: number | null;
  on_deadline: 'assume' | 'keep_waiting';
  created_by: string;
  /** The name of that principal. */
  created_by_name: string | null;
  /** Who enqueued the job that asks; without a job, who asked. */
  requested_by: string | null;
  created_at: number;
  promoted_at: number | null;
  /** The mode of the current resolution. */
  resolved_at: number | null;
  /** The job that got the answer: the one that asked, or one that was created to apply it. */
  answer_job_id: string | null;
  /** When that job first saw the answer; null: not yet. */
  answer_seen_at: number | null;
  /** When the last resolution is handed over; null: without one, or afterwards. */
  hand_over_at: number | null;
  /** The action of a tool that it is about, within its job; null: it is about no action. */
  action_key: string | null;
  /** When an agent took the answer for that action; null: not yet. */
  taken_at: number | null;
  taken_by_agent_id: string | null;
  /** The same for questions that one answer may resolve together; null: none may be. */
  alike_key: string | null;
  /** JSON `AskedAction`; null: it is about no action that rules compare. */
  action: string | null;
  /**
   * JSON `OwnSession` of the person in `requested_by`, who alone may know of the question; null: a
   * job or a program asks.
   */
  session: string | null;
  /** Until when a session is taken to wait; null: no session asks. */
  waited_until: number | null;
}

/** All resolutions of an uncertainty; the one with the highest seq is current. */
export interface ResolutionsTable {
  workspace_id: string;
  uncertainty_id: string;
  seq: number;
  resolution_id: string;
  mode: ResolutionMode;
  value: string;
  confidence: number;
  commit_sha: string | null;
  created_by_job_id: string | null;
  /** The name of the person who resolved it; null: the deadline did. */
  created_by: string | null;
  /** The principal; null: the deadline, or written by an older version. */
  created_by_id: string | null;
  /** Whether it was not handed over yet. */
  is_held: 0 | 1;
  created_at: number;
  /** The rule of that person that answered; null: they did it themselves. */
  rule_id: string | null;
}

/** Answers of people that also answer later questions. */
export interface DecisionRulesTable {
  workspace_id: string;
  rule_id: string;
  scope: RuleScope;
  /** Rules of every scope are for one repository. */
  repo_id: string;
  run_id: string | null;
  job_id: string | null;
  kind: string;
  /** JSON array. */
  words: string;
  is_prefix: 0 | 1;
  verdict: 'allow' | 'refuse';
  uncertainty_id: string;
  created_at: number;
  created_by: string;
  created_by_name: string | null;
  expires_at: number;
  revoked_at: number | null;
  uses: number;
  last_used_at: number | null;
}

export interface UncertaintySchema {
  uncertainties: UncertaintiesTable;
  resolutions: ResolutionsTable;
  decision_rules: DecisionRulesTable;
}
