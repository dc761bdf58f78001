import { type Flag, keyedTable, of, type RowOf, table } from './table.ts';

const cloud_ai_jobs = table('workspace_id, cloud_ai_job_id', {
  workspace_id: 'TEXT NOT NULL',
  cloud_ai_job_id: 'TEXT NOT NULL',
  kind: 'TEXT NOT NULL',
  model: 'TEXT',
  /** JSON: the input of the model. */
  input: 'TEXT NOT NULL',
  /** JSON Schema that the result must match. */
  response_schema: 'TEXT',
  run_id: 'TEXT',
  job_id: 'TEXT',
  /** The context item or uncertainty of a job that the hub itself enqueued. */
  subject_id: 'TEXT',
  created_by: 'TEXT NOT NULL',
  outcome: of<'done' | 'failed' | null>('TEXT'),
  result: 'TEXT',
  usage: 'TEXT',
  message: 'TEXT',
  /** Hash of the accepted completion; identifies its replays. */
  completion_hash: 'TEXT',
});
export type CloudAiJobsTable = RowOf<typeof cloud_ai_jobs>;

/** Jobs that the hub enqueues by itself in a workspace; without a row, none. */
const cloud_ai_settings = keyedTable('workspace_id', {
  workspace_id: 'TEXT NOT NULL',
  summarize_sources: of<Flag>('INTEGER NOT NULL'),
  draft_decision_answers: of<Flag>('INTEGER NOT NULL'),
  /** The model that these jobs request; null: the executor's default. */
  model: 'TEXT',
});
export type CloudAiSettingsTable = RowOf<typeof cloud_ai_settings>;

export const cloudAiTables = { cloud_ai_jobs, cloud_ai_settings };

export const cloudAiIndexes = [
  // One job per subject and purpose, however often the hub is asked for it.
  `CREATE UNIQUE INDEX cloud_ai_jobs_by_subject ON cloud_ai_jobs (workspace_id, kind, subject_id)
    WHERE subject_id IS NOT NULL`,
];
