/**
 * After a restore, attempts from after the backup are unknown to the database, but still run. A new
 * epoch keeps the claim generations of new attempts apart from theirs.
 */
export function entryEpochs(): string[] {
  return ['ALTER TABLE queue_entries ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0'];
}
