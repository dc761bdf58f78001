/** The tables of cloud AI jobs as Kysely sees them; see `schema.ts`. */

export interface CloudAiJobsTable {
  workspace_id: string;
  cloud_ai_job_id: string;
  kind: string;
  model: string | null;
  /** JSON: what the model is given. */
  input: string;
  /** JSON Schema of the wanted result. */
  response_schema: string | null;
  run_id: string | null;
  job_id: string | null;
  /** Of a job that the hub itself enqueued: the context item or uncertainty that it is about. */
  subject_id: string | null;
  created_by: string;
  outcome: 'done' | 'failed' | null;
  result: string | null;
  usage: string | null;
  message: string | null;
  /** Of the accepted completion: a replay is known by it. */
  completion_hash: string | null;
}

/** What the hub enqueues by itself in a workspace; no row: nothing. */
export interface CloudAiSettingsTable {
  workspace_id: string;
  summarize_sources: 0 | 1;
  draft_decision_answers: 0 | 1;
  /** The model that these jobs ask for; null: whichever their executor has. */
  model: string | null;
}

export interface CloudAiJobsSchema {
  cloud_ai_jobs: CloudAiJobsTable;
  cloud_ai_settings: CloudAiSettingsTable;
}
