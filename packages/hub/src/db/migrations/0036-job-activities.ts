import type { EngineName } from '../engine.ts';

/** Where the log of an attempt tells of an activity of its tool, and how many there are. */
export function jobActivities(engine: EngineName): string[] {
  const keyed = engine === 'sqlite' ? ' WITHOUT ROWID' : '';
  return [
    `CREATE TABLE job_activities (
      workspace_id TEXT NOT NULL,
      job_id TEXT NOT NULL,
      attempt INTEGER NOT NULL,
      seq BIGINT NOT NULL,
      line BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, job_id, attempt, seq)
    )${keyed}`,
    'ALTER TABLE job_logs ADD COLUMN activities INTEGER NOT NULL DEFAULT 0',
  ];
}
