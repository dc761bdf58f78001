/** The tables of jobs, and their columns; `tables.ts` has the conventions. */

type Flag = 0 | 1;

export interface JobsTable {
  workspace_id: string;
  job_id: string;
  repo_id: string;
  run_id: string | null;
  kind: string;
  role: string;
  prompt: string;
  /** JSON: a string or an object, as the caller sent it. */
  requirements: string | null;
  parent_job_id: string | null;
  /** The round before; null: it is the first. */
  continues_job_id: string | null;
  /** The first job of the work; null for that job itself. */
  work_job_id: string | null;
  round: number;
  /** How many parents are above it. */
  depth: number;
  /** The uppermost of them; null without a parent. */
  root_job_id: string | null;
  /** JSON array of job ids. */
  depends_on: string;
  budget: string | null;
  created_by: string;
  /** The name of that principal; null: the id says it, or it is an agent, a trigger or the hub. */
  created_by_name: string | null;
  outcome: 'done' | 'failed' | 'blocked' | null;
  outcome_reason: string | null;
  message: string | null;
  evidence: string | null;
  usage: string | null;
  /** Hash of the accepted completion and its generation; identifies replays. */
  completion_hash: string | null;
  completion_attempt: number | null;
  /** Null while the job has no result, and where it follows from the outcome; see `complete.ts`. */
  completion_answer: string | null;
  waiting_on_uncertainty_id: string | null;
  decisions: string;
  /** The title of a long prompt; that of a short one is cut from it. */
  title: string | null;
  /** Whether a job that is done changed the repository; null when that does not apply. */
  changed: Flag | null;
  /** Of the evidence of a job that is done. */
  verdict: 'verified' | 'gaps' | 'unverified' | null;
  /** Of the last attempt that ended; before it, those that the job asks for. */
  tool: string | null;
  model: string | null;
  /** JSON array of the files for the tool, as they are on the wire; null: none. */
  attachments: string | null;
  message_count: number;
  /** The claim generation of the last attempt whose tool takes messages between its turns. */
  messages_generation: number | null;
  /** The first of the variants to which it and its rounds belong; null: it is no variant. */
  variant_of: string | null;
  /** 1: the variant was chosen. 0: another one was. Null: none was yet, or it is no variant. */
  variant_chosen: Flag | null;
  /** The round whose commit the job lands; null: it is no landing. */
  lands_job_id: string | null;
  /** The job whose commit this one reviews. */
  reviews_job_id: string | null;
  /** The branch or the job that it was told to build on. */
  base: string | null;
  /** The branch that its work is for; null: the one that the agent is configured with. */
  base_branch: string | null;
  /** How its piece of work has ended; null: it is open. */
  work_ended: 'landed' | 'closed' | null;
}

/** The decisions of people on a piece of work, and how it landed. */
export interface WorksTable {
  workspace_id: string;
  /** The first job of the work. */
  work_job_id: string;
  /** JSON, as on the wire. */
  approval: string | null;
  /** The latest landing of the approval. */
  landing_job_id: string | null;
  /** JSON, as on the wire. */
  landing_conflicts: string | null;
  /** JSON, as on the wire. */
  landed: string | null;
}

export interface JobMessagesTable {
  workspace_id: string;
  job_id: string;
  number: number;
  text: string;
  author_id: string;
  author_name: string | null;
  created_at: number;
  /** When the tool of the job got it. Null: it is queued, or in a round. */
  delivered_at: number | null;
  /** The round that has it in its prompt. */
  next_job_id: string | null;
}

export interface JobEventsTable {
  /** `jobs.job_key`, an integer that statements only use to join. */
  job_key: number;
  seq: number;
  kind: string;
  at: number;
  attempt: number;
  agent_id: string | null;
  message: string | null;
  data: string | null;
}

/** The size of the log of an attempt: the text of its output. */
export interface JobLogsTable {
  workspace_id: string;
  job_id: string;
  attempt: number;
  line_feeds: number;
  size_bytes: number;
  /** 1: the text does not end with a line feed. */
  is_line_open: Flag;
  first_at: number;
  last_at: number;
  /** Bytes and pieces of output since the last mark. */
  unmarked_bytes: number;
  unmarked_pieces: number;
  /** The highest number of an entry of the agent. */
  log_seq: number;
  /** The same for entries that the attempt's job token appends. */
  tool_log_seq: number;
  /** How many of its pieces have a row in `job_activities`. */
  activities: number;
}

/** A place in a log: the event `seq` tells of an activity, and its text begins in line `line`. */
interface JobActivitiesTable {
  workspace_id: string;
  job_id: string;
  attempt: number;
  seq: number;
  line: number;
}

/** A place in a log: the event `seq` begins after `line` line feeds and `byte` bytes. */
export interface JobLogMarksTable {
  workspace_id: string;
  job_id: string;
  attempt: number;
  line: number;
  seq: number;
  byte: number;
}

export interface JobSchema {
  jobs: JobsTable;
  job_events: JobEventsTable;
  job_logs: JobLogsTable;
  job_log_marks: JobLogMarksTable;
  job_activities: JobActivitiesTable;
  job_messages: JobMessagesTable;
  works: WorksTable;
}

/** The columns as statements name them; `columns.ts` compares them with the tables. */
export const jobColumns = {
  jobs: `workspace_id, job_id, repo_id, run_id, kind, role, prompt, requirements, parent_job_id,
     continues_job_id, work_job_id, round, depth, root_job_id, depends_on, budget, created_by,
     created_by_name, outcome, outcome_reason, message, evidence, usage, completion_hash,
     completion_attempt, completion_answer, waiting_on_uncertainty_id, decisions, title, changed,
     verdict, tool, model, message_count, messages_generation, attachments, variant_of,
     variant_chosen, lands_job_id, reviews_job_id, base, base_branch,
     work_ended`,
  job_events: 'job_key, seq, kind, at, attempt, agent_id, message, data',
  job_logs: `workspace_id, job_id, attempt, line_feeds, size_bytes, is_line_open, first_at, last_at,
    unmarked_bytes, unmarked_pieces, log_seq, tool_log_seq, activities`,
  job_messages: `workspace_id, job_id, number, text, author_id, author_name, created_at,
    delivered_at, next_job_id`,
  works: 'workspace_id, work_job_id, approval, landing_job_id, landing_conflicts, landed',
} as const;
