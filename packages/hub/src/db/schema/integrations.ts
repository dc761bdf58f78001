import { type Flag, keyedTable, of, type RowOf, table } from './table.ts';

/** An inbound event in the ledger, reduced as the workspace's data policy requires. */
const integration_events = table(['workspace_id, event_id', 'workspace_id, key_hash'], {
  /** Empty for an event of a chat team that is mapped to no workspace; it has no content. */
  workspace_id: 'TEXT NOT NULL',
  event_id: 'TEXT NOT NULL',
  /** SHA-256 of the source and its key for the event, because keys may hold sensitive text. */
  key_hash: 'TEXT NOT NULL',
  channel: of<'ingest' | 'chat'>('TEXT NOT NULL'),
  source: 'TEXT NOT NULL',
  type: 'TEXT NOT NULL',
  status: of<'accepted' | 'ignored'>('TEXT NOT NULL'),
  ignored_reason: 'TEXT',
  context_item_id: 'TEXT',
  occurred_at: 'BIGINT NOT NULL',
  received_at: 'BIGINT NOT NULL',
  /** How often it was replayed against the triggers. */
  replays: 'INTEGER NOT NULL',
  /** JSON array of the enabled triggers that it did not match, and the fields that differed. */
  unmatched: 'TEXT NOT NULL',
  /** When retention deleted its content. */
  forgotten_at: 'BIGINT',
  title: 'TEXT',
  actor: 'TEXT',
  thread_ref: 'TEXT',
  source_ref: 'TEXT',
  /** JSON, redacted; null: the event had none, or the policy stores none. */
  data: 'TEXT',
  /** JSON object of a CloudEvent's extension attributes, kept like `data`. */
  extensions: 'TEXT',
  /** The text for triggers of a replay, the same as in the context item. */
  content: 'TEXT',
});
export type IntegrationEventsTable = RowOf<typeof integration_events>;

/** Maps a chat team to the workspace that gets its messages. */
const chat_teams = keyedTable('workspace_id, team_id', {
  workspace_id: 'TEXT NOT NULL',
  team_id: 'TEXT NOT NULL UNIQUE',
  name: 'TEXT NOT NULL',
  created_by: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
});
export type ChatTeamsTable = RowOf<typeof chat_teams>;

/**
 * A chat team that a workspace wants, until a message of the team proves it. Several workspaces may
 * claim a team; the code that the team sends decides.
 */
const chat_team_claims = keyedTable('workspace_id, team_id', {
  workspace_id: 'TEXT NOT NULL',
  team_id: 'TEXT NOT NULL',
  name: 'TEXT NOT NULL',
  /** Eight letters, to be posted in the team. */
  code: 'TEXT NOT NULL',
  created_by: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  expires_at: 'BIGINT NOT NULL',
});
export type ChatTeamClaimsTable = RowOf<typeof chat_team_claims>;

/** A secret with which another system sends events to one workspace. */
const integration_secrets = keyedTable('workspace_id, secret_id', {
  workspace_id: 'TEXT NOT NULL',
  secret_id: 'TEXT NOT NULL',
  /** SHA-256; the secret itself is shown once. */
  secret_hash: 'TEXT NOT NULL UNIQUE',
  name: 'TEXT NOT NULL',
  created_by: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  last_used_at: 'BIGINT',
  revoked_at: 'BIGINT',
});
export type IntegrationSecretsTable = RowOf<typeof integration_secrets>;

const triggers = table('workspace_id, trigger_id', {
  workspace_id: 'TEXT NOT NULL',
  trigger_id: 'TEXT NOT NULL',
  name: 'TEXT NOT NULL',
  type: of<'event' | 'schedule'>('TEXT NOT NULL'),
  enabled: of<Flag>('INTEGER NOT NULL'),
  /** JSON; null for a schedule. */
  match: 'TEXT',
  cron: 'TEXT',
  time_zone: 'TEXT',
  repo_id: 'TEXT NOT NULL',
  run_ref_template: 'TEXT NOT NULL',
  title_template: 'TEXT',
  prompt_template: 'TEXT NOT NULL',
  priority: 'INTEGER NOT NULL',
  hourly_cap: 'INTEGER NOT NULL',
  /** The next slot of an enabled schedule. */
  next_fire_at: 'BIGINT',
  created_by: 'TEXT NOT NULL',
  created_at: 'BIGINT NOT NULL',
  updated_at: 'BIGINT NOT NULL',
});
export type TriggersTable = RowOf<typeof triggers>;

/** The result of one evaluation of a trigger for a cause. */
const trigger_firings = keyedTable('workspace_id, cause, replay, trigger_id', {
  workspace_id: 'TEXT NOT NULL',
  trigger_id: 'TEXT NOT NULL',
  /** The id of an event, or `slot:` and the time of a schedule in ms. */
  cause: 'TEXT NOT NULL',
  /** 0 for the arrival of the event, or the number of the replay. */
  replay: 'INTEGER NOT NULL',
  outcome: of<'started' | 'capped' | 'refused' | 'already_started'>('TEXT NOT NULL'),
  reason: 'TEXT',
  run_id: 'TEXT',
  job_id: 'TEXT',
  /** Slots that passed while no hub was running; this firing replaces them. */
  missed_slots: 'INTEGER NOT NULL',
  at: 'BIGINT NOT NULL',
});
export type TriggerFiringsTable = RowOf<typeof trigger_firings>;

export const integrationTables = {
  integration_events,
  chat_teams,
  chat_team_claims,
  integration_secrets,
  triggers,
  trigger_firings,
};

export const integrationIndexes = [
  'CREATE INDEX integration_events_by_age ON integration_events (workspace_id, received_at)',
  `CREATE INDEX integration_events_remembered ON integration_events (workspace_id, received_at)
    WHERE forgotten_at IS NULL`,
  `CREATE INDEX integration_events_by_ref
    ON integration_events (workspace_id, text_hash(source_ref))
    WHERE source_ref IS NOT NULL`,
  'CREATE INDEX chat_team_claims_by_team ON chat_team_claims (team_id, code)',
  'CREATE INDEX triggers_due ON triggers (next_fire_at) WHERE next_fire_at IS NOT NULL',
  // At most one run for each trigger and cause, even in a race.
  `CREATE UNIQUE INDEX trigger_firings_started ON trigger_firings
    (workspace_id, trigger_id, cause)
    WHERE outcome = 'started'`,
  'CREATE INDEX trigger_firings_latest ON trigger_firings (workspace_id, trigger_id, at)',
  `CREATE INDEX trigger_firings_by_time ON trigger_firings (workspace_id, trigger_id, at)
    WHERE outcome = 'started'`,
  // Only firings of schedules; those of events are deleted with their events.
  `CREATE INDEX trigger_firings_of_slots ON trigger_firings (at)
    WHERE cause >= 'slot:' AND cause < 'slot;'`,
];
