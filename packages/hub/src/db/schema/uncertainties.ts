import type { ResolutionMode, UncertaintyKind, UncertaintyStatus } from '@signalbox/contract';

/** Questions of agents; promoted, they are decision requests. */
export interface UncertaintiesTable {
  workspace_id: string;
  uncertainty_id: string;
  /** Null while not promoted. */
  decision_request_id: string | null;
  run_id: string;
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
  created_at: number;
  promoted_at: number | null;
  /** Of the resolution that holds. */
  resolved_at: number | null;
  /** The job that the answer was handed to: the one that asked, or one made to apply it. */
  answer_job_id: string | null;
  /** When that job came to know the answer; null: it does not know it yet. */
  answer_seen_at: number | null;
}

/** Answers, all of them kept; the one with the highest seq holds. */
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
  /** Who answered, by name; null: the deadline. */
  created_by: string | null;
  created_at: number;
}

export interface UncertaintySchema {
  uncertainties: UncertaintiesTable;
  resolutions: ResolutionsTable;
}
