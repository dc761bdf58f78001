import { jobColumns } from './jobs.ts';
import type { Schema } from './tables.ts';

/*
 * The columns of the tables as statements name them. A statement that reads `*` would get other
 * rows when a newer version adds a column, and PostgreSQL would refuse it in the sessions that have
 * prepared it.
 */

type Trimmed<Text extends string> = Text extends ` ${infer Rest}` | `\n${infer Rest}`
  ? Trimmed<Rest>
  : Text;
type Names<Text extends string, Before = never> = Text extends `${infer First},${infer Rest}`
  ? Names<Rest, Before | Trimmed<First>>
  : Before | Trimmed<Text>;
type IsSame<A, B> = [A, B] extends [B, A] ? true : false;

/** Fails to compile unless each text names exactly the columns of its table. */
function checked<const Texts extends { [Table in keyof Schema]?: string }>(
  texts: Texts & {
    [Table in keyof Texts]: Table extends keyof Schema
      ? IsSame<Names<Texts[Table] & string>, keyof Schema[Table]> extends true
        ? string
        : never
      : never;
  },
): Texts {
  return texts;
}

export const allColumns = checked({
  ...jobColumns,
  agents: `workspace_id, agent_id, principal_id, token_id, machine_fingerprint, display_name,
    status, capabilities, agent_version, platform, arch, last_seen_at, created_at, command,
    command_number, command_reason, command_by, command_by_name, command_asked_at,
    command_acknowledged_at`,
  audit_entries: 'workspace_id, seq, at, actor, action, subject, data, previous_hash, hash',
  chat_team_claims: 'workspace_id, team_id, name, code, created_by, created_at, expires_at',
  chat_teams: 'workspace_id, team_id, name, created_by, created_at',
  cloud_ai_jobs: `workspace_id, cloud_ai_job_id, kind, model, input, response_schema, run_id,
    job_id, subject_id, created_by, outcome, result, usage, message, completion_hash`,
  cloud_ai_settings: 'workspace_id, summarize_sources, draft_decision_answers, model',
  context_items: `workspace_id, item_id, kind, title, source, source_ref, thread_ref, trust, pinned,
    truncated, content_hash, tokens, occurred_at, superseded_by, valid_from, valid_to, created_by,
    created_at, updated_at, text`,
  context_pack_items: `workspace_id, pack_id, position, item_id, reason, kind, title, source,
    source_ref, thread_ref, trust, truncated, tokens, fetched_at, text`,
  context_packs: `workspace_id, pack_id, run_id, version, content_hash, token_budget,
    token_estimate, expansion_hints, created_by, created_at`,
  decision_rules: `workspace_id, rule_id, scope, repo_id, run_id, job_id, kind, words, is_prefix,
    verdict, uncertainty_id, created_at, created_by, created_by_name, expires_at, revoked_at, uses,
    last_used_at`,
  device_sessions: `device_id, secret_hash, workspace_slug, machine_name, user_code, address,
    address_block, status, created_at, expires_at, interval_ms, polled_at, opened_by_session_id,
    wrong_codes, answered_at, workspace_id, token_id, token_hash, sealed_token`,
  integration_events: `workspace_id, event_id, key_hash, channel, source, type, status,
    ignored_reason, context_item_id, occurred_at, received_at, replays, unmatched, forgotten_at,
    title, actor, thread_ref, source_ref, data, extensions, content`,
  integration_secrets: `workspace_id, secret_id, secret_hash, name, created_by, created_at,
    last_used_at, revoked_at`,
  invitations: `workspace_id, invitation_id, link_hash, email, role, created_by, created_at,
    expires_at, accepted_at, accepted_by, revoked_at`,
  job_templates: `workspace_id, name, template_values, updated_at, updated_by, updated_by_name`,
  mail_accounts: `workspace_id, account_id, name, host, port, tls_mode, ca_certificate, user_name,
    auth_kind, sealed_secret, mailboxes, created_by, created_at, updated_at`,
  memberships: 'workspace_id, person_id, role, created_at',
  notification_channels: `workspace_id, channel_id, person_id, kind, name, host, sealed_target,
    slack_user, events, questions, after_minutes, shows_text, failure, stopped_at, created_at`,
  notifications: `workspace_id, notification_id, event, subject_id, person_id, channel_id, content,
    state, attempts, turn_at, due_at, held_by, failure, receipt, edit_at, created_at,
    ended_at`,
  oauth_clients: 'client_id, name, redirect_uris, address_block, expires_at, created_at',
  oauth_secrets: `secret_hash, kind, workspace_id, token_id, person_id, client_id, client_name, scopes,
    redirect_uri, code_challenge, created_at, expires_at, used_at, sealed_tokens`,
  password_resets: 'link_hash, person_id, created_by, created_at, expires_at, used_at, replaced_at',
  patch_requests: `workspace_id, job_id, agent_id, asked_by_id, asked_by_name, asked_at,
    answered_at, refusal`,
  people: `person_id, email, name, password_hash, created_at, quiet_hours, absent_until,
    digest_hours`,
  queue_entries: `workspace_id, entry_id, queue, lane_id, status, hold, priority, sort_key,
    enqueued_at, available_at, attempt, attempts_max, dependencies_unmet, concurrency_key, agent_id,
    lease_ms, lease_expires_at, claim_key, job_token_hash, started_at, finished_at,
    cancel_requested_at, heartbeat_seq, heartbeat_count, prefer_agent_id, prefer_until, epoch`,
  repositories: `workspace_id, repo_id, remote_url_hash, label, status, queue_paused_at,
    queue_paused_by, queue_pause_reason, ask_order, created_at, updated_at`,
  resolutions: `workspace_id, uncertainty_id, seq, resolution_id, mode, value, confidence,
    commit_sha, created_by_job_id, created_by, created_by_id, is_held, created_at, rule_id`,
  review_comments: `workspace_id, comment_id, work_job_id, job_id, number, replies_to, path, side,
    start_line, end_line, commit_sha, lines, text, author_id, author_name, created_at, updated_at,
    sent_in_job_id, answer, fate, resolved_at, resolved_by_id, resolved_by_name`,
  run_milestones: 'workspace_id, run_id, seq, milestone, status, at',
  runs: `workspace_id, run_id, repo_id, run_ref, status, current_milestone, run_state_path, title,
    goal, blocked_by_decision_request_id, ask_order, created_at, updated_at`,
  sessions: `session_id, session_hash, person_id, created_at, last_seen_at, confirmed_at,
    expires_at, address, user_agent, revoked_at`,
  token_repositories: 'workspace_id, token_id, repo_id',
  tokens: `workspace_id, token_id, token_hash, kind, principal_id, person_id, name, scopes,
    created_at, expires_at, last_used_at, revoked_at, created_by, renewable_until`,
  trigger_firings: `workspace_id, trigger_id, cause, replay, outcome, reason, run_id, job_id,
    missed_slots, at`,
  triggers: `workspace_id, trigger_id, name, type, enabled, match, cron, time_zone, repo_id,
    run_ref_template, title_template, prompt_template, priority, hourly_cap, next_fire_at,
    created_by, created_at, updated_at`,
  uncertainties: `workspace_id, uncertainty_id, decision_request_id, repo_id, run_id, job_id,
    status, prompt, kind, context, confidence, impact, reversibility, assumed_value,
    assumed_reasoning, auto_promote_threshold, options, recommended_value, deadline_at, on_deadline,
    created_by, created_by_name, requested_by, created_at, promoted_at, resolved_at, answer_job_id,
    answer_seen_at, hand_over_at, action_key, taken_at, taken_by_agent_id, alike_key, action,
    session, waited_until`,
  upload_extracts: `workspace_id, content_hash, format, upload_id, status, reason, attempts,
    available_at, truncated, context_item_id, created_at, finished_at`,
  upload_objects: 'workspace_id, object_key, upload_id, created_at',
  uploads: `workspace_id, upload_id, file_name, content_type, size_bytes, sha256, status,
    object_key, created_by, job_id, run_id, created_at, expires_at, stored_at`,
  workspaces: `workspace_id, slug, name, created_at, content_storage, retention_days,
    redact_secrets, queue_paused_at, queue_paused_by, queue_pause_reason, created_by_operator,
    ask_owners_after_minutes`,
});

/** The same, as the columns of an alias of the table. */
export function columnsOf(alias: string, table: keyof typeof allColumns): string {
  return allColumns[table].replaceAll(/\w+/g, `${alias}.$&`);
}

/** All columns of a table but some, such as its long ones. */
export function columnsWithout<Table extends keyof typeof allColumns>(
  table: Table,
  left: readonly (keyof Schema[Table])[],
): string {
  const names: readonly PropertyKey[] = left;
  return allColumns[table]
    .split(/,\s*/)
    .filter((name) => !names.includes(name))
    .join(', ');
}
