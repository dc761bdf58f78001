import { cloudAiIndexes, cloudAiTables } from './cloud-ai-jobs.ts';
import { contextIndexes, contextTables } from './context.ts';
import { integrationIndexes, integrationTables } from './integrations.ts';
import { invitationIndexes, invitationTables } from './invitations.ts';
import { jobTemplateTables } from './job-templates.ts';
import { jobIndexes, jobTables } from './jobs.ts';
import { notificationIndexes, notificationTables } from './notifications.ts';
import { passwordResetIndexes, passwordResetTables } from './password-resets.ts';
import { queueIndexes, queueTables } from './queue.ts';
import { reviewIndexes, reviewTables } from './review.ts';
import { type Flag, keyedTable, of, type RowOf, table } from './table.ts';
import { uncertaintyIndexes, uncertaintyTables } from './uncertainties.ts';
import { uploadIndexes, uploadTables } from './uploads.ts';

/*
 * The tables; `migrations/` creates them. Times are integers in ms since the epoch, flags are 0 or
 * 1, JSON is text. Every table of a workspace leads its keys with workspace_id, so that the schema
 * can be distributed by workspace.
 */

export type Role = 'owner' | 'admin' | 'member' | 'viewer';

const workspaces = keyedTable('workspace_id', {
  workspace_id: 'TEXT NOT NULL',
  slug: 'TEXT NOT NULL UNIQUE',
  name: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  content_storage: of<'full' | 'excerpt' | 'metadata'>('TEXT NOT NULL'),
  retention_days: 'BIGINT',
  redact_secrets: of<Flag>('INTEGER NOT NULL'),
  queue_paused_at: 'BIGINT',
  /** 0: a person created it at the console. */
  created_by_operator: of<Flag>('INTEGER NOT NULL DEFAULT 1'),
  queue_paused_by: 'TEXT',
  queue_pause_reason: 'TEXT',
  /** Minutes without an answer after which the owners are told of a question too; 0: never. */
  ask_owners_after_minutes: 'INTEGER NOT NULL DEFAULT 15',
});
export type WorkspacesTable = RowOf<typeof workspaces>;

/** Settings of the hub itself, such as the hash of the first-owner link. */
const hub_settings = keyedTable('name', {
  name: 'TEXT NOT NULL',
  value: 'TEXT NOT NULL',
});

/** Several accounts may have one e-mail address: an address is no proof of a person. */
const people = keyedTable('person_id', {
  person_id: 'TEXT NOT NULL',
  email: 'TEXT NOT NULL',
  name: 'TEXT NOT NULL',
  password_hash: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  /** JSON: `QuietHours`; null: none. */
  quiet_hours: 'TEXT',
  /** Until when the person is out of office; null, or in the past: they are not. */
  absent_until: 'BIGINT',
  /** Hours between messages about questions of low risk; 0: each is told immediately. */
  digest_hours: 'INTEGER NOT NULL DEFAULT 0',
});
export type PeopleTable = RowOf<typeof people>;

const memberships = keyedTable('workspace_id, person_id', {
  workspace_id: 'TEXT NOT NULL',
  person_id: 'TEXT NOT NULL',
  role: of<Role>('TEXT NOT NULL'),
  created_at: 'BIGINT NOT NULL',
});
export type MembershipsTable = RowOf<typeof memberships>;

const sessions = keyedTable('session_id', {
  session_id: 'TEXT NOT NULL',
  session_hash: 'TEXT NOT NULL UNIQUE',
  person_id: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  last_seen_at: 'BIGINT NOT NULL',
  /** When the person last entered the password: sensitive operations require a recent time. */
  confirmed_at: 'BIGINT NOT NULL',
  expires_at: 'BIGINT NOT NULL',
  address: 'TEXT NOT NULL',
  user_agent: 'TEXT NOT NULL',
  revoked_at: 'BIGINT',
});
export type SessionsTable = RowOf<typeof sessions>;

const tokens = keyedTable('workspace_id, token_id', {
  workspace_id: 'TEXT NOT NULL',
  token_id: 'TEXT NOT NULL',
  token_hash: 'TEXT NOT NULL UNIQUE',
  kind: of<'device' | 'service' | 'assistant'>('TEXT NOT NULL'),
  /** Who acts with the token: a person's id, or `service:` and the name in the workspace. */
  principal_id: 'TEXT NOT NULL',
  person_id: 'TEXT',
  name: 'TEXT NOT NULL',
  /** JSON array of scopes. */
  scopes: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  expires_at: 'BIGINT NOT NULL',
  last_used_at: 'BIGINT',
  revoked_at: 'BIGINT',
  created_by: 'TEXT NOT NULL',
  /** Until when an assistant may get its next token; null: the token has none. */
  renewable_until: 'BIGINT',
});
export type TokensTable = RowOf<typeof tokens>;

/** A code or refresh token of an assistant, which is exchanged for a token once. */
const oauth_secrets = keyedTable('secret_hash', {
  secret_hash: 'TEXT NOT NULL',
  kind: of<'code' | 'refresh'>('TEXT NOT NULL'),
  workspace_id: 'TEXT NOT NULL',
  /** The token that it gives or renews. */
  token_id: 'TEXT NOT NULL',
  person_id: 'TEXT NOT NULL',
  client_id: 'TEXT NOT NULL',
  client_name: 'TEXT NOT NULL',
  /** JSON array of scopes. */
  scopes: 'TEXT NOT NULL',
  /** Only of codes. */
  redirect_uri: 'TEXT',
  code_challenge: 'TEXT',
  created_at: 'BIGINT NOT NULL',
  expires_at: 'BIGINT NOT NULL',
  used_at: 'BIGINT',
  /** The tokens that it was exchanged for, sealed with itself; only of refresh tokens. */
  sealed_tokens: 'TEXT',
});
export type OauthSecretsTable = RowOf<typeof oauth_secrets>;

/** A client that has registered itself. */
const oauth_clients = keyedTable('client_id', {
  client_id: 'TEXT NOT NULL',
  name: 'TEXT NOT NULL',
  /** JSON array. */
  redirect_uris: 'TEXT NOT NULL',
  /** Counted as one caller: the address, or its /64 for IPv6. */
  address_block: 'TEXT NOT NULL',
  expires_at: 'BIGINT NOT NULL',
  created_at: 'BIGINT NOT NULL',
});
export type OauthClientsTable = RowOf<typeof oauth_clients>;

/** Repositories that a token has resolved, read or upserted; its agents serve them by default. */
const token_repositories = keyedTable('workspace_id, token_id, repo_id', {
  workspace_id: 'TEXT NOT NULL',
  token_id: 'TEXT NOT NULL',
  repo_id: 'TEXT NOT NULL',
});
export type TokenRepositoriesTable = RowOf<typeof token_repositories>;

const device_sessions = keyedTable('device_id', {
  device_id: 'TEXT NOT NULL',
  secret_hash: 'TEXT NOT NULL',
  workspace_slug: 'TEXT NOT NULL',
  machine_name: 'TEXT NOT NULL',
  user_code: 'TEXT NOT NULL',
  address: 'TEXT NOT NULL',
  status: of<'pending' | 'approved' | 'denied'>('TEXT NOT NULL'),
  created_at: 'BIGINT NOT NULL',
  expires_at: 'BIGINT NOT NULL',
  interval_ms: 'BIGINT NOT NULL',
  polled_at: 'BIGINT',
  /** The console session that opened the request, the only one that may decide it. */
  opened_by_session_id: 'TEXT',
  wrong_codes: 'INTEGER NOT NULL',
  answered_at: 'BIGINT',
  workspace_id: 'TEXT',
  token_id: 'TEXT',
  /** Hash of the token made at the start; not valid until the approval adds it to `tokens`. */
  token_hash: 'TEXT NOT NULL',
  /** The token, sealed with a key that is derived from the device secret. */
  sealed_token: 'TEXT NOT NULL',
  /** Counted as one caller: the address, or its /64 for IPv6. */
  address_block: "TEXT NOT NULL DEFAULT ''",
});
export type DeviceSessionsTable = RowOf<typeof device_sessions>;

/** Wrong device codes by block of addresses, for the hourly limit. */
const device_code_failures = table([], {
  address: 'TEXT NOT NULL',
  at: 'BIGINT NOT NULL',
});

const audit_entries = keyedTable('workspace_id, seq', {
  workspace_id: 'TEXT NOT NULL',
  seq: 'BIGINT NOT NULL',
  at: 'BIGINT NOT NULL',
  actor: 'TEXT NOT NULL',
  action: 'TEXT NOT NULL',
  subject: 'TEXT NOT NULL',
  data: 'TEXT NOT NULL',
  previous_hash: 'TEXT NOT NULL',
  hash: 'TEXT NOT NULL',
});
export type AuditEntriesTable = RowOf<typeof audit_entries>;

/** A key is bound to the principal that sent it. */
const idempotency_keys = keyedTable('workspace_id, operation, idempotency_key, principal_id', {
  workspace_id: 'TEXT NOT NULL',
  operation: 'TEXT NOT NULL',
  idempotency_key: 'TEXT NOT NULL',
  /** Empty for keys from before they were bound to a principal. */
  principal_id: 'TEXT NOT NULL',
  body_hash: 'TEXT NOT NULL',
  answer: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
});

const agents = keyedTable(
  ['workspace_id, agent_id', 'workspace_id, principal_id, machine_fingerprint'],
  {
    workspace_id: 'TEXT NOT NULL',
    agent_id: 'TEXT NOT NULL',
    principal_id: 'TEXT NOT NULL',
    token_id: 'TEXT NOT NULL',
    machine_fingerprint: 'TEXT NOT NULL',
    display_name: 'TEXT NOT NULL',
    status: of<'online' | 'draining' | 'offline'>('TEXT NOT NULL'),
    /** JSON, as the agent sent it. */
    capabilities: 'TEXT NOT NULL',
    agent_version: 'TEXT',
    platform: 'TEXT',
    arch: 'TEXT',
    last_seen_at: 'BIGINT NOT NULL',
    created_at: 'BIGINT NOT NULL',
    /** The last command of a person, while it has an effect. `agents/command-state.ts` reads it. */
    command: of<'drain' | 'resume' | 'stop' | 'stop-now' | null>('TEXT'),
    /** Of the last command; also when none stands. */
    command_number: 'BIGINT NOT NULL DEFAULT 0',
    command_reason: 'TEXT',
    command_by: 'TEXT',
    command_by_name: 'TEXT',
    command_asked_at: 'BIGINT',
    command_acknowledged_at: 'BIGINT',
  },
);
export type AgentsTable = RowOf<typeof agents>;

const repositories = keyedTable(['workspace_id, repo_id', 'workspace_id, remote_url_hash'], {
  workspace_id: 'TEXT NOT NULL',
  repo_id: 'TEXT NOT NULL',
  remote_url_hash: 'TEXT NOT NULL',
  label: 'TEXT NOT NULL',
  status: of<'active' | 'archived'>('TEXT NOT NULL'),
  queue_paused_at: 'BIGINT',
  created_at: 'BIGINT NOT NULL',
  updated_at: 'BIGINT NOT NULL',
  queue_paused_by: 'TEXT',
  queue_pause_reason: 'TEXT',
  /** JSON: `AskOrder`; null: the default of the workspace. */
  ask_order: 'TEXT',
});
export type RepositoriesTable = RowOf<typeof repositories>;

const runs = keyedTable(['workspace_id, run_id', 'workspace_id, repo_id, run_ref'], {
  workspace_id: 'TEXT NOT NULL',
  run_id: 'TEXT NOT NULL',
  repo_id: 'TEXT NOT NULL',
  run_ref: 'TEXT NOT NULL',
  status: 'TEXT NOT NULL',
  current_milestone: 'TEXT',
  run_state_path: 'TEXT',
  created_at: 'BIGINT NOT NULL',
  updated_at: 'BIGINT NOT NULL',
  title: 'TEXT',
  goal: 'TEXT',
  blocked_by_decision_request_id: 'TEXT',
  /** JSON `AskOrder`; null: that of the repository. */
  ask_order: 'TEXT',
});
export type RunsTable = RowOf<typeof runs>;

const run_milestones = keyedTable('workspace_id, run_id, seq', {
  workspace_id: 'TEXT NOT NULL',
  run_id: 'TEXT NOT NULL',
  /** Rises by one within the run. */
  seq: 'BIGINT NOT NULL',
  milestone: 'TEXT',
  status: 'TEXT NOT NULL',
  at: 'BIGINT NOT NULL',
});
export type RunMilestonesTable = RowOf<typeof run_milestones>;

/** All tables, except those that only one engine has. */
export const tables = {
  workspaces,
  hub_settings,
  people,
  memberships,
  sessions,
  tokens,
  oauth_secrets,
  oauth_clients,
  token_repositories,
  device_sessions,
  device_code_failures,
  audit_entries,
  idempotency_keys,
  agents,
  repositories,
  runs,
  run_milestones,
  ...cloudAiTables,
  ...contextTables,
  ...integrationTables,
  ...invitationTables,
  ...jobTemplateTables,
  ...jobTables,
  ...notificationTables,
  ...passwordResetTables,
  ...queueTables,
  ...reviewTables,
  ...uncertaintyTables,
  ...uploadTables,
};

export const indexes: readonly string[] = [
  'CREATE INDEX people_by_email ON people (email, created_at, person_id)',
  'CREATE INDEX memberships_by_person ON memberships (person_id)',
  'CREATE INDEX sessions_by_person ON sessions (person_id)',
  'CREATE INDEX sessions_by_expiry ON sessions (expires_at)',
  'CREATE INDEX oauth_secrets_by_expiry ON oauth_secrets (expires_at)',
  'CREATE INDEX oauth_clients_by_expiry ON oauth_clients (expires_at)',
  'CREATE INDEX oauth_clients_by_block ON oauth_clients (address_block, created_at)',
  'CREATE INDEX device_sessions_by_expiry ON device_sessions (expires_at)',
  // They are counted by block of addresses and workspace.
  `CREATE INDEX device_sessions_by_block ON device_sessions
    (address_block, expires_at, workspace_slug)`,
  'CREATE INDEX device_code_failures_by_address ON device_code_failures (address, at)',
  'CREATE INDEX device_code_failures_by_age ON device_code_failures (at)',
  'CREATE INDEX audit_entries_by_actor ON audit_entries (workspace_id, actor, seq)',
  'CREATE INDEX audit_entries_by_action ON audit_entries (workspace_id, action, seq)',
  'CREATE INDEX audit_entries_by_subject ON audit_entries (workspace_id, subject, seq)',
  'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at)',
  'CREATE INDEX runs_by_status ON runs (workspace_id, status, run_id)',
  'CREATE INDEX runs_by_repository ON runs (workspace_id, repo_id, run_id)',
  ...cloudAiIndexes,
  ...contextIndexes,
  ...integrationIndexes,
  ...invitationIndexes,
  ...jobIndexes,
  ...notificationIndexes,
  ...passwordResetIndexes,
  ...queueIndexes,
  ...reviewIndexes,
  ...uncertaintyIndexes,
  ...uploadIndexes,
];

/** The rows of each table. */
export type Schema = { [Name in keyof typeof tables]: RowOf<(typeof tables)[Name]> };
