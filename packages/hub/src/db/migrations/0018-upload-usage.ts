import type { EngineName } from '../engine.ts';

/**
 * The bytes of uploads of each workspace (an empty job) and of each job. An upload counts as at
 * least 4 KB, so that empty ones are bounded too.
 */
export function uploadUsage(engine: EngineName): string[] {
  const keyed = engine === 'sqlite' ? ' WITHOUT ROWID' : '';
  const counted = 'SUM(CASE WHEN size_bytes < 4096 THEN 4096 ELSE size_bytes END)';
  return [
    `CREATE TABLE upload_usage (
      workspace_id TEXT NOT NULL,
      job_id TEXT NOT NULL,
      size_bytes BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, job_id)
    )${keyed}`,
    `INSERT INTO upload_usage (workspace_id, job_id, size_bytes)
      SELECT workspace_id, '', ${counted} FROM uploads GROUP BY workspace_id`,
    `INSERT INTO upload_usage (workspace_id, job_id, size_bytes)
      SELECT workspace_id, job_id, ${counted} FROM uploads
      WHERE job_id IS NOT NULL GROUP BY workspace_id, job_id`,
  ];
}
