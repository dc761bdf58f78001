/** The depth of a job below the first job of its tree, and that job, to bound both. */
export function jobTrees(): string[] {
  return [
    'ALTER TABLE jobs ADD COLUMN depth INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE jobs ADD COLUMN root_job_id TEXT',
    `CREATE INDEX jobs_by_root ON jobs (workspace_id, root_job_id)
      WHERE root_job_id IS NOT NULL`,
  ];
}
