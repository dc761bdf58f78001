import type { ChangeKind } from '@signalbox/contract';
import type { RowWrite } from '../db/engine.ts';

/** The rows that a statement writes. */
interface WrittenRows {
  /** Null: unknown, or several rows. */
  id: string | null;
  /** The columns that are set, as far as they are known. */
  set: RowWrite['set'];
}

/** How the writes of a table are announced. */
interface WatchedTable {
  kind: (rows: WrittenRows) => readonly ChangeKind[];
  /** The column with the id of the record; null: changes are announced without an id. */
  id: string | null;
  /** Columns that are not shown, or that change all the time: updates of only these say nothing. */
  silent?: readonly string[];
}

const just = (kind: ChangeKind) => () => [kind] as const;

/** Events that only lengthen the timeline; all others come with a change of the job. */
const quietEvents: ReadonlySet<unknown> = new Set(['heartbeat', 'log']);
const pauseColumns: readonly string[] = [
  'queue_paused_at',
  'queue_paused_by',
  'queue_pause_reason',
];

/** The tables whose writes are announced. */
export const watchedTables: Readonly<Record<string, WatchedTable>> = {
  queue_entries: {
    // Both kinds of entries share the table; their ids tell them apart.
    kind: ({ id }) =>
      id === null ? ['job', 'cloudAiJob'] : [id.startsWith('job_') ? 'job' : 'cloudAiJob'],
    id: 'entry_id',
    silent: [
      ...['lease_ms', 'lease_expires_at', 'claim_key', 'job_token_hash'],
      ...['heartbeat_seq', 'heartbeat_count', 'prefer_agent_id', 'prefer_until'],
    ],
  },
  jobs: { kind: just('job'), id: 'job_id', silent: ['completion_answer'] },
  job_messages: { kind: just('job'), id: 'job_id' },
  patch_requests: { kind: just('job'), id: 'job_id' },
  works: { kind: just('job'), id: 'work_job_id' },
  review_comments: { kind: just('reviewComment'), id: 'work_job_id' },
  job_events: {
    kind: ({ set: { kind } }) => {
      return kind === undefined || quietEvents.has(kind) ? ['jobEvents'] : ['jobEvents', 'job'];
    },
    id: 'job_id',
  },
  cloud_ai_jobs: { kind: just('cloudAiJob'), id: 'cloud_ai_job_id' },
  uncertainties: { kind: just('uncertainty'), id: 'uncertainty_id' },
  resolutions: { kind: just('uncertainty'), id: 'uncertainty_id' },
  // A page that shows the question reads it again, and says so.
  notifications: {
    kind: ({ set }) => (set.held_by === 'page' ? ['uncertainty'] : []),
    id: 'subject_id',
  },
  runs: { kind: just('run'), id: 'run_id' },
  agents: { kind: just('agent'), id: 'agent_id', silent: ['last_seen_at', 'token_id'] },
  repositories: { kind: just('repository'), id: 'repo_id' },
  workspaces: {
    kind: ({ set }) =>
      pauseColumns.some((column) => Object.hasOwn(set, column)) ? ['queue'] : ['workspace'],
    id: 'workspace_id',
  },
  cloud_ai_settings: { kind: just('workspace'), id: 'workspace_id' },
  context_items: { kind: just('contextItem'), id: 'item_id' },
  context_packs: { kind: just('contextPack'), id: 'pack_id' },
  uploads: { kind: just('upload'), id: 'upload_id' },
  upload_extracts: { kind: just('upload'), id: 'upload_id' },
  triggers: { kind: just('trigger'), id: 'trigger_id' },
  trigger_firings: { kind: just('trigger'), id: 'trigger_id' },
  integration_events: { kind: just('integrationEvent'), id: 'event_id' },
  memberships: { kind: just('member'), id: 'person_id' },
  invitations: { kind: just('invitation'), id: null },
  tokens: { kind: just('token'), id: null, silent: ['last_used_at'] },
  audit_entries: { kind: just('auditEntry'), id: null },
  mail_accounts: { kind: just('mailAccount'), id: null },
  chat_teams: { kind: just('chatTeam'), id: null },
  integration_secrets: { kind: just('integrationSecret'), id: null },
};
