/**
 * A job token opens nothing once its attempt has ended, so only those of running attempts are
 * looked for. Hashes come in no order: an index of all there ever were costs each claim a page of
 * its own.
 */
export function jobTokens(): string[] {
  return [
    'DROP INDEX queue_entries_by_job_token',
    `CREATE UNIQUE INDEX queue_entries_by_job_token ON queue_entries (job_token_hash)
      WHERE status = 'running' AND job_token_hash IS NOT NULL`,
  ];
}
