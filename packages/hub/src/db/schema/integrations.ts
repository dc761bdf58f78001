/** A line of the ledger: an inbound event, as the workspace's data policy let it be written. */
export interface IntegrationEventsTable {
  /** Empty: of a chat team that no workspace has; such a line holds no content. */
  workspace_id: string;
  event_id: string;
  /** SHA-256 of the way it came and its key there: keys may hold anything, hashes nothing. */
  key_hash: string;
  channel: 'ingest' | 'chat';
  source: string;
  type: string;
  status: 'accepted' | 'ignored';
  ignored_reason: string | null;
  context_item_id: string | null;
  occurred_at: number;
  received_at: number;
  /** How often it was held against the triggers again. */
  replays: number;
  /** JSON array of the enabled triggers that it did not fit, and where. */
  unmatched: string;
  /** When its content was taken away by retention. */
  forgotten_at: number | null;
  title: string | null;
  actor: string | null;
  thread_ref: string | null;
  source_ref: string | null;
  /** JSON, redacted; null: the policy keeps none, or there was none. */
  data: string | null;
  /** JSON object of a CloudEvent's extension attributes, kept like `data`. */
  extensions: string | null;
  /** The text that triggers of a replay see: what the context item got. */
  content: string | null;
}

/** Which workspace the messages of a chat team go to: one team, one workspace. */
export interface ChatTeamsTable {
  workspace_id: string;
  team_id: string;
  name: string;
  created_by: string;
  created_at: number;
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
  /** Of an enabled schedule: the slot that comes next. */
  next_fire_at: number | null;
  created_by: string;
  created_at: number;
  updated_at: number;
}

/** What a trigger made of a cause, once for each evaluation. */
export interface TriggerFiringsTable {
  workspace_id: string;
  trigger_id: string;
  /** The id of an event, or `slot:` and the time of a schedule in ms. */
  cause: string;
  /** 0: when it arrived; otherwise the number of the replay. */
  replay: number;
  outcome: 'started' | 'capped' | 'refused' | 'already_started';
  reason: string | null;
  run_id: string | null;
  job_id: string | null;
  /** Slots that passed while no hub was up, for which this one stands. */
  missed_slots: number;
  at: number;
}

export interface IntegrationTables {
  integration_events: IntegrationEventsTable;
  chat_teams: ChatTeamsTable;
  triggers: TriggersTable;
  trigger_firings: TriggerFiringsTable;
}
