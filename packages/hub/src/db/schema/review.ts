/** The tables of reviews; `tables.ts` has the conventions. */

export interface ReviewCommentsTable {
  workspace_id: string;
  comment_id: string;
  /** The first job of the work. */
  work_job_id: string;
  /** The round whose result it is about. */
  job_id: string;
  /** Null: a draft. */
  number: number | null;
  /** The first comment of its thread; null: it is the first. */
  replies_to: string | null;
  path: string;
  side: 'base' | 'result';
  start_line: number;
  end_line: number;
  commit_sha: string | null;
  lines: string;
  text: string;
  author_id: string;
  author_name: string | null;
  created_at: number;
  updated_at: number;
  sent_in_job_id: string | null;
  /** JSON, as on the wire. */
  answer: string | null;
  /** JSON, as on the wire. */
  fate: string | null;
  resolved_at: number | null;
  resolved_by_id: string | null;
  resolved_by_name: string | null;
}

export interface PatchRequestsTable {
  workspace_id: string;
  job_id: string;
  /** The agent of the job when it was asked. */
  agent_id: string;
  asked_by_id: string;
  asked_by_name: string | null;
  asked_at: number;
  /** Null: the agent has not answered. */
  answered_at: number | null;
  /** Why the agent does not share it. */
  refusal: string | null;
}

export interface ReviewSchema {
  patch_requests: PatchRequestsTable;
  review_comments: ReviewCommentsTable;
}
