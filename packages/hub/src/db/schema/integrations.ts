/** An inbound event in the ledger, reduced as the workspace's data policy requires. */
export interface IntegrationEventsTable {
  /** Empty for an event of a chat team that is mapped to no workspace; it has no content. */
  workspace_id: string;
  event_id: string;
  /** SHA-256 of the source and its key for the event, because keys may hold sensitive text. */
  key_hash: string;
  channel: 'ingest' | 'chat';
  source: string;
  type: string;
  status: 'accepted' | 'ignored';
  ignored_reason: string | null;
  context_item_id: string | null;
  occurred_at: number;
  received_at: number;
  /** How often it was replayed against the triggers. */
  replays: number;
  /** JSON array of the enabled triggers that it did not match, and the fields that differed. */
  unmatched: string;
  /** When retention deleted its content. */
  forgotten_at: number | null;
  title: string | null;
  actor: string | null;
  thread_ref: string | null;
  source_ref: string | null;
  /** JSON, redacted; null: the event had none, or the policy stores none. */
  data: string | null;
  /** JSON object of a CloudEvent's extension attributes, kept like `data`. */
  extensions: string | null;
  /** The text for triggers of a replay, the same as in the context item. */
  content: string | null;
}

/** Maps a chat team to the workspace that gets its messages. */
export interface ChatTeamsTable {
  workspace_id: string;
  team_id: string;
  name: string;
  created_by: string;
  created_at: number;
}

/** A chat team that a workspace wants, until a message of the team proves it. */
export interface ChatTeamClaimsTable {
  workspace_id: string;
  team_id: string;
  name: string;
  /** Eight letters, to be posted in the team. */
  code: string;
  created_by: string;
  created_at: number;
  expires_at: number;
}

/** A secret with which another system sends events to one workspace. */
export interface IntegrationSecretsTable {
  workspace_id: string;
  secret_id: string;
  /** SHA-256; the secret itself is shown once. */
  secret_hash: string;
  name: string;
  created_by: string;
  created_at: number;
  last_used_at: number | null;
  revoked_at: number | null;
}

export interface TriggersTable {
  workspace_id: string;
  trigger_id: string;
  name: string;
  type: 'event' | 'schedule';
  enabled: 0 | 1;
  /** JSON; null for a schedule. */
  match: string | null;
  cron: string | null;
  time_zone: string | null;
  repo_id: string;
  run_ref_template: string;
  title_template: string | null;
  prompt_template: string;
  priority: number;
  hourly_cap: number;
  /** The next slot of an enabled schedule. */
  next_fire_at: number | null;
  created_by: string;
  created_at: number;
  updated_at: number;
}

/** The result of one evaluation of a trigger for a cause. */
export interface TriggerFiringsTable {
  workspace_id: string;
  trigger_id: string;
  /** The id of an event, or `slot:` and the time of a schedule in ms. */
  cause: string;
  /** 0 for the arrival of the event, or the number of the replay. */
  replay: number;
  outcome: 'started' | 'capped' | 'refused' | 'already_started';
  reason: string | null;
  run_id: string | null;
  job_id: string | null;
  /** Slots that passed while no hub was running; this firing replaces them. */
  missed_slots: number;
  at: number;
}

export interface IntegrationTables {
  integration_events: IntegrationEventsTable;
  chat_teams: ChatTeamsTable;
  chat_team_claims: ChatTeamClaimsTable;
  integration_secrets: IntegrationSecretsTable;
  triggers: TriggersTable;
  trigger_firings: TriggerFiringsTable;
}
