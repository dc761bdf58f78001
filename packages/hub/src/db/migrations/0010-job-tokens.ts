/**
 * A job token is not valid once its attempt has ended, so the index contains only those of running
 * attempts. Hashes are random, so with an index of all tokens each claim would write a different
 * page.
 */
export function jobTokens(): string[] {
  return [
    'DROP INDEX queue_entries_by_job_token',
    `CREATE UNIQUE INDEX queue_entries_by_job_token ON queue_entries (job_token_hash)
      WHERE status = 'running' AND job_token_hash IS NOT NULL`,
  ];
}
