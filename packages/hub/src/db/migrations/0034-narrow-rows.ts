/**
 * The id of an event is its job's id and its number, so it is not stored. The hash of a job token
 * is of use only while the attempt runs, and the answer of most completions follows from the
 * outcome. Titles of short prompts stay as they are.
 */
export function narrowRows(): string[] {
  return [
    'ALTER TABLE job_events DROP COLUMN event_id',
    "UPDATE queue_entries SET job_token_hash = NULL WHERE status <> 'running'",
  ];
}
