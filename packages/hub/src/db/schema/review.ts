import { of, type RowOf, table } from './table.ts';

/** Members ask the agents of ended jobs for their patches. */
const patch_requests = table('workspace_id, job_id', {
  workspace_id: 'TEXT NOT NULL',
  job_id: 'TEXT NOT NULL',
  /** The agent of the job when it was asked. */
  agent_id: 'TEXT NOT NULL',
  asked_by_id: 'TEXT NOT NULL',
  asked_by_name: 'TEXT',
  asked_at: 'BIGINT NOT NULL',
  /** Null: the agent has not answered. */
  answered_at: 'BIGINT',
  /** Why the agent does not share it. */
  refusal: 'TEXT',
});
export type PatchRequestsTable = RowOf<typeof patch_requests>;

/** Comments of people on lines of a result; without a number they are drafts. */
const review_comments = table('workspace_id, comment_id', {
  workspace_id: 'TEXT NOT NULL',
  comment_id: 'TEXT NOT NULL',
  /** The first job of the work. */
  work_job_id: 'TEXT NOT NULL',
  /** The round whose result it is about. */
  job_id: 'TEXT NOT NULL',
  /** Null: a draft. */
  number: 'INTEGER',
  /** The first comment of its thread; null: it is the first. */
  replies_to: 'TEXT',
  path: 'TEXT NOT NULL',
  side: of<'base' | 'result'>('TEXT NOT NULL'),
  start_line: 'INTEGER NOT NULL',
  end_line: 'INTEGER NOT NULL',
  commit_sha: 'TEXT',
  lines: 'TEXT NOT NULL',
  text: 'TEXT NOT NULL',
  author_id: 'TEXT NOT NULL',
  author_name: 'TEXT',
  created_at: 'BIGINT NOT NULL',
  updated_at: 'BIGINT NOT NULL',
  sent_in_job_id: 'TEXT',
  /** JSON, as on the wire. */
  answer: 'TEXT',
  /** JSON, as on the wire. */
  fate: 'TEXT',
  resolved_at: 'BIGINT',
  resolved_by_id: 'TEXT',
  resolved_by_name: 'TEXT',
});
export type ReviewCommentsTable = RowOf<typeof review_comments>;

export const reviewTables = { patch_requests, review_comments };

export const reviewIndexes = [
  `CREATE INDEX patch_requests_waiting ON patch_requests (workspace_id, agent_id)
    WHERE answered_at IS NULL`,
  'CREATE INDEX review_comments_work ON review_comments (workspace_id, work_job_id, comment_id)',
  'CREATE INDEX review_comments_job ON review_comments (workspace_id, job_id)',
];
