/**
 * Runs, uncertainties with their resolutions, and the hold `preferred` of the queue, in SQL that
 * both engines understand.
 */
export function runsAndUncertainties(): string[] {
  return [...runStatements, ...uncertaintyStatements, ...preferenceStatements];
}

const runStatements = [
  'ALTER TABLE runs ADD COLUMN title TEXT',
  'ALTER TABLE runs ADD COLUMN goal TEXT',
  'ALTER TABLE runs ADD COLUMN blocked_by_decision_request_id TEXT',
  'CREATE INDEX runs_by_status ON runs (workspace_id, status, run_id)',
  'CREATE INDEX runs_by_repository ON runs (workspace_id, repo_id, run_id)',
];

const uncertaintyStatements = [
  `CREATE TABLE uncertainties (
    workspace_id TEXT NOT NULL,
    uncertainty_id TEXT NOT NULL,
    decision_request_id TEXT,
    run_id TEXT NOT NULL,
    job_id TEXT,
    status TEXT NOT NULL,
    prompt TEXT NOT NULL,
    kind TEXT NOT NULL,
    context TEXT NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    impact TEXT NOT NULL,
    reversibility TEXT NOT NULL,
    assumed_value TEXT NOT NULL,
    assumed_reasoning TEXT NOT NULL,
    auto_promote_threshold DOUBLE PRECISION NOT NULL,
    options TEXT NOT NULL,
    recommended_value TEXT,
    deadline_at BIGINT,
    on_deadline TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    promoted_at BIGINT,
    resolved_at BIGINT,
    answer_job_id TEXT,
    answer_seen_at BIGINT,
    PRIMARY KEY (workspace_id, uncertainty_id)
  )`,
  `CREATE UNIQUE INDEX uncertainties_by_decision_request
    ON uncertainties (workspace_id, decision_request_id) WHERE decision_request_id IS NOT NULL`,
  'CREATE INDEX uncertainties_by_status ON uncertainties (workspace_id, status, uncertainty_id)',
  'CREATE INDEX uncertainties_by_run ON uncertainties (workspace_id, run_id, uncertainty_id)',
  `CREATE INDEX uncertainties_by_job ON uncertainties (workspace_id, job_id, uncertainty_id)
    WHERE job_id IS NOT NULL`,
  `CREATE INDEX uncertainties_unseen ON uncertainties (workspace_id, answer_job_id)
    WHERE answer_job_id IS NOT NULL AND answer_seen_at IS NULL`,
  `CREATE INDEX uncertainties_by_deadline ON uncertainties (deadline_at)
    WHERE status = 'open' AND on_deadline = 'assume' AND deadline_at IS NOT NULL`,
  `CREATE TABLE resolutions (
    workspace_id TEXT NOT NULL,
    uncertainty_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    resolution_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    value TEXT NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    commit_sha TEXT,
    created_by_job_id TEXT,
    created_by TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, uncertainty_id, seq)
  )`,
];

const preferenceStatements = [
  'ALTER TABLE queue_entries ADD COLUMN prefer_agent_id TEXT',
  'ALTER TABLE queue_entries ADD COLUMN prefer_until BIGINT',
  `CREATE INDEX queue_entries_preferred ON queue_entries (workspace_id, prefer_agent_id)
    WHERE hold = 'preferred'`,
  `CREATE INDEX queue_entries_preferred_until ON queue_entries (prefer_until)
    WHERE hold = 'preferred'`,
];
