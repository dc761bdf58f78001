/** The numbers of log entries that a job token appends, apart from those of the agent. */
export function toolLog(): string[] {
  return ['ALTER TABLE queue_entries ADD COLUMN tool_log_seq BIGINT NOT NULL DEFAULT 0'];
}
