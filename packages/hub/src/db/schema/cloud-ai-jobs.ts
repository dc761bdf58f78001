/** The tables of cloud AI jobs; `tables.ts` has the conventions. */

export interface CloudAiJobsTable {
  workspace_id: string;
  cloud_ai_job_id: string;
  kind: string;
  model: string | null;
  /** JSON: the input of the model. */
  input: string;
  /** JSON Schema that the result must match. */
  response_schema: string | null;
  run_id: string | null;
  job_id: string | null;
  /** The context item or uncertainty of a job that the hub itself enqueued. */
  subject_id: string | null;
  created_by: string;
  outcome: 'done' | 'failed' | null;
  result: string | null;
  usage: string | null;
  message: string | null;
  /** Hash of the accepted completion; identifies its replays. */
  completion_hash: string | null;
}

/** Jobs that the hub enqueues by itself in a workspace; without a row, none. */
export interface CloudAiSettingsTable {
  workspace_id: string;
  summarize_sources: 0 | 1;
  draft_decision_answers: 0 | 1;
  /** The model that these jobs request; null: the executor's default. */
  model: string | null;
}

export interface CloudAiJobsSchema {
  cloud_ai_jobs: CloudAiJobsTable;
  cloud_ai_settings: CloudAiSettingsTable;
}
