import { type Flag, keyedTable, of, type RowOf, table } from './table.ts';

const jobRows = table('workspace_id, job_id', {
  workspace_id: 'TEXT NOT NULL',
  job_id: 'TEXT NOT NULL',
  repo_id: 'TEXT NOT NULL',
  run_id: 'TEXT',
  kind: 'TEXT NOT NULL',
  role: 'TEXT NOT NULL',
  prompt: 'TEXT NOT NULL',
  /** JSON: a string or an object, as the caller sent it. */
  requirements: 'TEXT',
  parent_job_id: 'TEXT',
  /** The round before; null: it is the first. */
  continues_job_id: 'TEXT',
  /** The first job of the work; null for that job itself. */
  work_job_id: 'TEXT',
  round: 'INTEGER NOT NULL DEFAULT 1',
  /** JSON array of job ids. */
  depends_on: 'TEXT NOT NULL',
  budget: 'TEXT',
  created_by: 'TEXT NOT NULL',
  /** The name of that principal; null: the id says it, or it is an agent, a trigger or the hub. */
  created_by_name: 'TEXT',
  outcome: of<'done' | 'failed' | 'blocked' | null>('TEXT'),
  outcome_reason: 'TEXT',
  message: 'TEXT',
  evidence: 'TEXT',
  usage: 'TEXT',
  /** Hash of the accepted completion and its generation; identifies replays. */
  completion_hash: 'TEXT',
  completion_attempt: 'INTEGER',
  /** Null while the job has no result, and where it follows from the outcome; see `complete.ts`. */
  completion_answer: 'TEXT',
  waiting_on_uncertainty_id: 'TEXT',
  decisions: 'TEXT NOT NULL',
  /** How many parents are above it. */
  depth: 'INTEGER NOT NULL DEFAULT 0',
  /** The uppermost of them; null without a parent. */
  root_job_id: 'TEXT',
  /** The title of a long prompt; that of a short one is cut from it. */
  title: 'TEXT',
  /** Whether a job that is done changed the repository; null when that does not apply. */
  changed: of<Flag | null>('INTEGER'),
  /** Of the evidence of a job that is done. */
  verdict: of<'verified' | 'gaps' | 'unverified' | null>('TEXT'),
  /** Of the last attempt that ended; before it, those that the job asks for. */
  tool: 'TEXT',
  model: 'TEXT',
  message_count: 'INTEGER NOT NULL DEFAULT 0',
  /** The claim generation of the last attempt whose tool takes messages between its turns. */
  messages_generation: 'BIGINT',
  /** JSON array of the files for the tool, as they are on the wire; null: none. */
  attachments: 'TEXT',
  /** The first of the variants to which it and its rounds belong; null: it is no variant. */
  variant_of: 'TEXT',
  /** 1: the variant was chosen. 0: another one was. Null: none was yet, or it is no variant. */
  variant_chosen: of<Flag | null>('INTEGER'),
  /** The round whose commit the job lands; null: it is no landing. */
  lands_job_id: 'TEXT',
  /** The job whose commit this one reviews. */
  reviews_job_id: 'TEXT',
  /** The branch or the job that it was told to build on. */
  base: 'TEXT',
  /** The branch that its work is for; null: the one that the agent is configured with. */
  base_branch: 'TEXT',
  /** How its piece of work has ended; null: it is open. */
  work_ended: of<'landed' | 'closed' | null>('TEXT'),
});
const jobs = { ...jobRows, numberedBy: 'job_key' };
export type JobsTable = RowOf<typeof jobs>;

/**
 * Events refer to the integer key of their job instead of the ids of workspace and job, which are
 * 40 characters. On SQLite the table keeps its row ids, so that events are written one behind the
 * other. In the order of the key, the output of each job would need a page of its own in each
 * transaction, and a row of more than 1,002 bytes a second one.
 */
const job_events = table('job_key, seq', {
  /** `jobs.job_key`, an integer that statements only use to join. */
  job_key: 'BIGINT NOT NULL',
  seq: 'BIGINT NOT NULL',
  kind: 'TEXT NOT NULL',
  at: 'BIGINT NOT NULL',
  attempt: 'INTEGER NOT NULL',
  agent_id: 'TEXT',
  message: 'TEXT',
  data: 'TEXT',
});
export type JobEventsTable = RowOf<typeof job_events>;

/**
 * The size of the log of an attempt: the text of its output. With it and the marks, a page, a
 * search or a download reads no more of the timeline than it returns.
 */
const job_logs = keyedTable('workspace_id, job_id, attempt', {
  workspace_id: 'TEXT NOT NULL',
  job_id: 'TEXT NOT NULL',
  attempt: 'INTEGER NOT NULL',
  line_feeds: 'BIGINT NOT NULL',
  size_bytes: 'BIGINT NOT NULL',
  /** 1: the text does not end with a line feed. */
  is_line_open: of<Flag>('INTEGER NOT NULL'),
  first_at: 'BIGINT NOT NULL',
  last_at: 'BIGINT NOT NULL',
  /** Bytes and pieces of output since the last mark. */
  unmarked_bytes: 'BIGINT NOT NULL',
  unmarked_pieces: 'INTEGER NOT NULL',
  /** The highest number of an entry of the agent. */
  log_seq: 'BIGINT NOT NULL DEFAULT 0',
  /** The same for entries that the attempt's job token appends. */
  tool_log_seq: 'BIGINT NOT NULL DEFAULT 0',
  /** How many of its pieces have a row in `job_activities`. */
  activities: 'INTEGER NOT NULL DEFAULT 0',
});
export type JobLogsTable = RowOf<typeof job_logs>;

/** A place in a log: the event `seq` begins after `line` line feeds and `byte` bytes. */
const job_log_marks = keyedTable('workspace_id, job_id, attempt, line, seq', {
  workspace_id: 'TEXT NOT NULL',
  job_id: 'TEXT NOT NULL',
  attempt: 'INTEGER NOT NULL',
  line: 'BIGINT NOT NULL',
  seq: 'BIGINT NOT NULL',
  byte: 'BIGINT NOT NULL',
});
export type JobLogMarksTable = RowOf<typeof job_log_marks>;

/** A place in a log: the event `seq` tells of an activity, and its text begins in line `line`. */
const job_activities = keyedTable('workspace_id, job_id, attempt, seq', {
  workspace_id: 'TEXT NOT NULL',
  job_id: 'TEXT NOT NULL',
  attempt: 'INTEGER NOT NULL',
  seq: 'BIGINT NOT NULL',
  line: 'BIGINT NOT NULL',
});

/** The messages of people to a job. They become the prompt of the next round. */
const job_messages = table('workspace_id, job_id, number', {
  workspace_id: 'TEXT NOT NULL',
  job_id: 'TEXT NOT NULL',
  number: 'INTEGER NOT NULL',
  text: 'TEXT NOT NULL',
  author_id: 'TEXT NOT NULL',
  author_name: 'TEXT',
  created_at: 'BIGINT NOT NULL',
  /** When the tool of the job got it. Null: it is queued, or in a round. */
  delivered_at: 'BIGINT',
  /** The round that has it in its prompt. */
  next_job_id: 'TEXT',
});
export type JobMessagesTable = RowOf<typeof job_messages>;

/** The decisions of people on a piece of work, and how it landed. */
const works = table('workspace_id, work_job_id', {
  workspace_id: 'TEXT NOT NULL',
  /** The first job of the work. */
  work_job_id: 'TEXT NOT NULL',
  /** JSON, as on the wire. */
  approval: 'TEXT',
  /** The latest landing of the approval. */
  landing_job_id: 'TEXT',
  /** JSON, as on the wire. */
  landing_conflicts: 'TEXT',
  /** JSON, as on the wire. */
  landed: 'TEXT',
});
export type WorksTable = RowOf<typeof works>;

export const jobTables = {
  jobs,
  job_events,
  job_logs,
  job_log_marks,
  job_activities,
  job_messages,
  works,
};

export const jobIndexes = [
  'CREATE INDEX jobs_by_repository ON jobs (workspace_id, repo_id, job_id)',
  'CREATE INDEX jobs_by_creator ON jobs (workspace_id, created_by, job_id)',
  'CREATE INDEX jobs_by_kind ON jobs (workspace_id, kind, job_id)',
  'CREATE INDEX jobs_by_run ON jobs (workspace_id, run_id, job_id) WHERE run_id IS NOT NULL',
  // A round is continued once.
  `CREATE UNIQUE INDEX jobs_by_work ON jobs (workspace_id, work_job_id, round)
    WHERE work_job_id IS NOT NULL`,
  `CREATE INDEX jobs_by_variants ON jobs (workspace_id, variant_of, job_id)
    WHERE variant_of IS NOT NULL`,
  `CREATE INDEX jobs_by_landed ON jobs (workspace_id, lands_job_id)
    WHERE lands_job_id IS NOT NULL`,
  `CREATE INDEX jobs_by_reviewed ON jobs (workspace_id, reviews_job_id, job_id)
    WHERE reviews_job_id IS NOT NULL`,
  // By which lists leave out the jobs of works that have ended, without reading their long rows.
  'CREATE INDEX jobs_ended ON jobs (workspace_id, job_id) WHERE work_ended IS NOT NULL',
  'CREATE INDEX jobs_by_root ON jobs (workspace_id, root_job_id) WHERE root_job_id IS NOT NULL',
];
