/**
 * Columns that the inbox filters by and shows, and those of answers that can be withdrawn for a
 * while. A hub of an older version leaves the new columns null; its answers are
 * handed over at once, as `is_held` says by default.
 */
export function decisionInbox(): string[] {
  return [
    'ALTER TABLE uncertainties ADD COLUMN repo_id TEXT',
    'ALTER TABLE uncertainties ADD COLUMN requested_by TEXT',
    'ALTER TABLE uncertainties ADD COLUMN created_by_name TEXT',
    'ALTER TABLE uncertainties ADD COLUMN hand_over_at BIGINT',
    'ALTER TABLE resolutions ADD COLUMN created_by_id TEXT',
    'ALTER TABLE resolutions ADD COLUMN is_held INTEGER NOT NULL DEFAULT 0',
    `UPDATE uncertainties SET
       repo_id = (SELECT r.repo_id FROM runs AS r
         WHERE r.workspace_id = uncertainties.workspace_id AND r.run_id = uncertainties.run_id),
       requested_by = COALESCE((SELECT j.created_by FROM jobs AS j
         WHERE j.workspace_id = uncertainties.workspace_id AND j.job_id = uncertainties.job_id),
         created_by)`,
    `CREATE INDEX uncertainties_by_repository
      ON uncertainties (workspace_id, repo_id, uncertainty_id)`,
    `CREATE INDEX uncertainties_by_requester
      ON uncertainties (workspace_id, requested_by, uncertainty_id)`,
    `CREATE INDEX uncertainties_by_hand_over ON uncertainties (hand_over_at)
      WHERE hand_over_at IS NOT NULL`,
  ];
}
