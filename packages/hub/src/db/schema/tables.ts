import type { CloudAiJobsSchema } from './cloud-ai-jobs.ts';
import type { ContextTables } from './context.ts';
import type { IntegrationTables } from './integrations.ts';
import type { InvitationTables } from './invitations.ts';
import type { JobTemplateSchema } from './job-templates.ts';
import type { JobSchema } from './jobs.ts';
import type { NotificationTables } from './notifications.ts';
import type { PasswordResetTables } from './password-resets.ts';
import type { ReviewSchema } from './review.ts';
import type { UncertaintySchema } from './uncertainties.ts';
import type { UploadSchema } from './uploads.ts';

/*
 * The columns of the tables; `migrations/` creates them. Times are integers in ms since the
 * epoch, flags are 0 or 1, JSON is text. Every table of a workspace leads its keys with
 * workspace_id, so that the schema can be distributed by workspace.
 */

type Flag = 0 | 1;

export interface WorkspacesTable {
  workspace_id: string;
  slug: string;
  name: string;
  created_at: number;
  content_storage: 'full' | 'excerpt' | 'metadata';
  retention_days: number | null;
  redact_secrets: Flag;
  queue_paused_at: number | null;
  queue_paused_by: string | null;
  queue_pause_reason: string | null;
  /** 0: a person created it at the console. */
  created_by_operator: Flag;
  /** Minutes without an answer after which the owners are told of a question too; 0: never. */
  ask_owners_after_minutes: number;
}

export interface PeopleTable {
  person_id: string;
  email: string;
  name: string;
  password_hash: string;
  created_at: number;
  /** JSON: `QuietHours`; null: none. */
  quiet_hours: string | null;
  /** Until when the person is out of office; null, or in the past: they are not. */
  absent_until: number | null;
  /** Hours between messages about questions of low risk; 0: each is told immediately. */
  digest_hours: number;
}

export type Role = 'owner' | 'admin' | 'member' | 'viewer';

export interface MembershipsTable {
  workspace_id: string;
  person_id: string;
  role: Role;
  created_at: number;
}

export interface SessionsTable {
  session_id: string;
  session_hash: string;
  person_id: string;
  created_at: number;
  last_seen_at: number;
  /** When the person last entered the password: sensitive operations require a recent time. */
  confirmed_at: number;
  expires_at: number;
  address: string;
  user_agent: string;
  revoked_at: number | null;
}

/** Settings of the hub itself, such as the hash of the first-owner link. */
export interface HubSettingsTable {
  name: string;
  value: string;
}

export interface TokensTable {
  workspace_id: string;
  token_id: string;
  token_hash: string;
  kind: 'device' | 'service' | 'assistant';
  /** Who acts with the token: a person's id, or `service:` and the name in the workspace. */
  principal_id: string;
  person_id: string | null;
  name: string;
  /** JSON array of scopes. */
  scopes: string;
  created_at: number;
  expires_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
  created_by: string;
  /** Until when an assistant may get its next token; null: the token has none. */
  renewable_until: number | null;
}

/** A code or refresh token of an assistant, which is exchanged for a token once. */
export interface OauthSecretsTable {
  secret_hash: string;
  kind: 'code' | 'refresh';
  workspace_id: string;
  /** The token that it gives or renews. */
  token_id: string;
  person_id: string;
  client_id: string;
  client_name: string;
  /** JSON array of scopes. */
  scopes: string;
  /** Only of codes. */
  redirect_uri: string | null;
  code_challenge: string | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  /** The tokens that it was exchanged for, sealed with itself; only of refresh tokens. */
  sealed_tokens: string | null;
}

/** A client that has registered itself. */
export interface OauthClientsTable {
  client_id: string;
  name: string;
  /** JSON array. */
  redirect_uris: string;
  /** Counted as one caller: the address, or its /64 for IPv6. */
  address_block: string;
  expires_at: number;
  created_at: number;
}

/** Repositories that a token has resolved, read or upserted; its agents serve them by default. */
export interface TokenRepositoriesTable {
  workspace_id: string;
  token_id: string;
  repo_id: string;
}

export interface DeviceSessionsTable {
  device_id: string;
  secret_hash: string;
  workspace_slug: string;
  machine_name: string;
  user_code: string;
  address: string;
  /** Counted as one caller: the address, or its /64 for IPv6. */
  address_block: string;
  status: 'pending' | 'approved' | 'denied';
  created_at: number;
  expires_at: number;
  interval_ms: number;
  polled_at: number | null;
  /** The console session that opened the request, the only one that may decide it. */
  opened_by_session_id: string | null;
  wrong_codes: number;
  answered_at: number | null;
  workspace_id: string | null;
  token_id: string | null;
  /** Hash of the token made at the start; not valid until the approval adds it to `tokens`. */
  token_hash: string;
  /** The token, sealed with a key that is derived from the device secret. */
  sealed_token: string;
}

/** Wrong device codes by block of addresses, for the hourly limit. */
export interface DeviceCodeFailuresTable {
  address: string;
  at: number;
}

export interface AgentsTable {
  workspace_id: string;
  agent_id: string;
  principal_id: string;
  token_id: string;
  machine_fingerprint: string;
  display_name: string;
  status: 'online' | 'draining' | 'offline';
  /** JSON, as the agent sent it. */
  capabilities: string;
  agent_version: string | null;
  platform: string | null;
  arch: string | null;
  last_seen_at: number;
  created_at: number;
  /** The last command of a person, while it has an effect. `agents/command-state.ts` reads it. */
  command: 'drain' | 'resume' | 'stop' | 'stop-now' | null;
  /** Of the last command; also when none stands. */
  command_number: number;
  command_reason: string | null;
  command_by: string | null;
  command_by_name: string | null;
  command_asked_at: number | null;
  command_acknowledged_at: number | null;
}

export interface RepositoriesTable {
  workspace_id: string;
  repo_id: string;
  remote_url_hash: string;
  label: string;
  status: 'active' | 'archived';
  queue_paused_at: number | null;
  queue_paused_by: string | null;
  queue_pause_reason: string | null;
  /** JSON: `AskOrder`; null: the default of the workspace. */
  ask_order: string | null;
  created_at: number;
  updated_at: number;
}

export interface RunsTable {
  workspace_id: string;
  run_id: string;
  repo_id: string;
  run_ref: string;
  status: string;
  current_milestone: string | null;
  run_state_path: string | null;
  title: string | null;
  goal: string | null;
  blocked_by_decision_request_id: string | null;
  /** JSON `AskOrder`; null: that of the repository. */
  ask_order: string | null;
  created_at: number;
  updated_at: number;
}

export interface RunMilestonesTable {
  workspace_id: string;
  run_id: string;
  /** Rises by one within the run. */
  seq: number;
  milestone: string | null;
  status: string;
  at: number;
}

/** `queue/queue.ts` explains lanes and holds. */
export interface QueueLanesTable {
  workspace_id: string;
  lane_id: string;
  queue: QueueName;
  repo_id: string;
  kind: string;
  /** Canonical JSON of the required capabilities. */
  requirements: string;
  /** When an entry was last added, to within `LANE_KNOWN_MS` of `queue.ts`. */
  used_at: number;
  /** 1: no pending or running entry belongs to it, so claims do not look at it. */
  idle: number;
}

export type QueueName = 'jobs' | 'cloud-ai-jobs';

export interface QueueEntriesTable {
  workspace_id: string;
  entry_id: string;
  queue: QueueName;
  lane_id: string;
  status: 'pending' | 'running' | 'done' | 'failed' | 'blocked' | 'canceled';
  /** Why a pending entry is not claimable, or `ready`; null if it is not pending. */
  hold: 'ready' | 'delayed' | 'dependencies' | 'key' | 'preferred' | null;
  priority: number;
  sort_key: number;
  enqueued_at: number;
  available_at: number;
  attempt: number;
  /** The epoch of the last restore that the entry went through; 0: none. See `generationOf`. */
  epoch: number;
  attempts_max: number;
  dependencies_unmet: number;
  concurrency_key: string | null;
  agent_id: string | null;
  lease_ms: number | null;
  lease_expires_at: number | null;
  claim_key: string | null;
  job_token_hash: string | null;
  started_at: number | null;
  finished_at: number | null;
  cancel_requested_at: number | null;
  /** The timeline event that collects the heartbeats of the current attempt. */
  heartbeat_seq: number | null;
  heartbeat_count: number;
  /** For the hold `preferred`: the only agent that may claim the entry, and until when. */
  prefer_agent_id: string | null;
  prefer_until: number | null;
}

export interface QueueDependenciesTable {
  workspace_id: string;
  depends_on_entry_id: string;
  entry_id: string;
}

/** An entry that is done while some of its dependents still have to be updated. */
export interface QueueSettlementsTable {
  workspace_id: string;
  entry_id: string;
}

export interface IdempotencyKeysTable {
  workspace_id: string;
  operation: string;
  idempotency_key: string;
  /** Empty for keys from before they were bound to a principal. */
  principal_id: string;
  body_hash: string;
  answer: string;
  created_at: number;
}

export interface AuditEntriesTable {
  workspace_id: string;
  seq: number;
  at: number;
  actor: string;
  action: string;
  subject: string;
  data: string;
  previous_hash: string;
  hash: string;
}

/** An entry that is scheduled for deletion, as it was when it was scheduled. */
export interface EntryRemovalsTable {
  workspace_id: string;
  entry_id: string;
  queue: QueueName;
  finished_at: number;
  /** Sequence number of its last event; 0 without a timeline. */
  last_seq: number;
}

/** A file of the archive. */
export interface ArchivePartsTable {
  workspace_id: string;
  object_key: string;
  /** The month in which its jobs ended, such as 2026-11. */
  month: string;
  jobs: number;
  events: number;
  size_bytes: number;
  /** Hash of the whole file, lower-case hex. */
  sha256: string;
  created_at: number;
  /** Null: it may be incomplete, so its jobs stay. */
  sealed_at: number | null;
}

export interface SchemaMigrationsTable {
  version: number;
  name: string;
  applied_at: number;
}

export interface Schema
  extends CloudAiJobsSchema,
    ContextTables,
    IntegrationTables,
    InvitationTables,
    JobSchema,
    JobTemplateSchema,
    NotificationTables,
    PasswordResetTables,
    ReviewSchema,
    UncertaintySchema,
    UploadSchema {
  workspaces: WorkspacesTable;
  people: PeopleTable;
  memberships: MembershipsTable;
  sessions: SessionsTable;
  hub_settings: HubSettingsTable;
  tokens: TokensTable;
  token_repositories: TokenRepositoriesTable;
  oauth_secrets: OauthSecretsTable;
  oauth_clients: OauthClientsTable;
  device_sessions: DeviceSessionsTable;
  device_code_failures: DeviceCodeFailuresTable;
  agents: AgentsTable;
  repositories: RepositoriesTable;
  runs: RunsTable;
  run_milestones: RunMilestonesTable;
  queue_lanes: QueueLanesTable;
  queue_entries: QueueEntriesTable;
  queue_dependencies: QueueDependenciesTable;
  queue_settlements: QueueSettlementsTable;
  idempotency_keys: IdempotencyKeysTable;
  audit_entries: AuditEntriesTable;
  archive_parts: ArchivePartsTable;
  entry_removals: EntryRemovalsTable;
  schema_migrations: SchemaMigrationsTable;
}
