import type { EngineName } from '../engine.ts';

/** Model calls in the leased queue: their wide rows, and the settings of the hub's own jobs. */
export function cloudAiJobs(engine: EngineName): string[] {
  const keyed = engine === 'sqlite' ? ' WITHOUT ROWID' : '';
  return [
    // With row ids, like jobs: long rows would make a tree without row ids deep.
    `CREATE TABLE cloud_ai_jobs (
      workspace_id TEXT NOT NULL,
      cloud_ai_job_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      model TEXT,
      input TEXT NOT NULL,
      response_schema TEXT,
      run_id TEXT,
      job_id TEXT,
      subject_id TEXT,
      created_by TEXT NOT NULL,
      outcome TEXT,
      result TEXT,
      usage TEXT,
      message TEXT,
      completion_hash TEXT,
      PRIMARY KEY (workspace_id, cloud_ai_job_id)
    )`,
    // One job per subject and purpose, however often the hub is asked for it.
    `CREATE UNIQUE INDEX cloud_ai_jobs_by_subject ON cloud_ai_jobs (workspace_id, kind, subject_id)
      WHERE subject_id IS NOT NULL`,
    `CREATE TABLE cloud_ai_settings (
      workspace_id TEXT NOT NULL PRIMARY KEY,
      summarize_sources INTEGER NOT NULL,
      draft_decision_answers INTEGER NOT NULL,
      model TEXT
    )${keyed}`,
  ];
}
