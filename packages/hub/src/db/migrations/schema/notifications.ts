/** The tables of notifications. */
export const notificationTables = [
  `CREATE TABLE notification_channels (
    workspace_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    person_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    host TEXT NOT NULL,
    sealed_target TEXT,
    slack_user TEXT,
    events TEXT NOT NULL,
    questions TEXT NOT NULL,
    after_minutes INTEGER NOT NULL,
    shows_text INTEGER NOT NULL,
    failure TEXT,
    stopped_at BIGINT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, channel_id)
  )`,
  `CREATE TABLE notifications (
    workspace_id TEXT NOT NULL,
    notification_id TEXT NOT NULL,
    event TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    person_id TEXT NOT NULL,
    channel_id TEXT NOT NULL,
    content TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    turn_at BIGINT NOT NULL,
    due_at BIGINT,
    held_by TEXT,
    failure TEXT,
    receipt TEXT,
    edit_at BIGINT,
    created_at BIGINT NOT NULL,
    ended_at BIGINT,
    PRIMARY KEY (workspace_id, notification_id)
  )`,
  // Pages of the console that a person has before them.
  `CREATE TABLE visible_pages (
    workspace_id TEXT NOT NULL,
    person_id TEXT NOT NULL,
    page_id TEXT NOT NULL,
    until_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, person_id, page_id)
  )`,
  `CREATE TABLE slack_codes (
    workspace_id TEXT NOT NULL,
    person_id TEXT NOT NULL,
    code_hash TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
  )`,
  'CREATE UNIQUE INDEX slack_codes_by_hash ON slack_codes (code_hash)',
  // An account of Slack is one person in each workspace.
  `CREATE UNIQUE INDEX notification_channels_by_slack_user ON notification_channels
    (slack_user, workspace_id) WHERE slack_user IS NOT NULL`,
  // An event is told once by each channel.
  `CREATE UNIQUE INDEX notifications_once ON notifications
    (workspace_id, subject_id, event, channel_id)`,
  'CREATE INDEX notifications_due ON notifications (due_at) WHERE due_at IS NOT NULL',
  'CREATE INDEX notifications_by_age ON notifications (created_at)',
];
