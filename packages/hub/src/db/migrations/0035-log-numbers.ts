/**
 * The numbers of the output that was appended move from the entry to the size of the log, which
 * each append writes anyway. They matter only while the attempt runs.
 */
export function logNumbers(): string[] {
  return [
    'ALTER TABLE job_logs ADD COLUMN log_seq BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE job_logs ADD COLUMN tool_log_seq BIGINT NOT NULL DEFAULT 0',
    ...['log_seq', 'tool_log_seq'].map(
      (column) => `UPDATE job_logs SET ${column} = COALESCE((
        SELECT e.${column} FROM queue_entries AS e
        WHERE e.workspace_id = job_logs.workspace_id AND e.entry_id = job_logs.job_id
          AND e.attempt = job_logs.attempt), 0)`,
    ),
    'ALTER TABLE queue_entries DROP COLUMN log_seq',
    'ALTER TABLE queue_entries DROP COLUMN tool_log_seq',
  ];
}
