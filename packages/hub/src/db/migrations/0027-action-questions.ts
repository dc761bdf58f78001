/**
 * Questions about an action of a tool: the key of the action, and which agent has taken the answer.
 */
export function actionQuestions(): string[] {
  return [
    'ALTER TABLE uncertainties ADD COLUMN action_key TEXT',
    'ALTER TABLE uncertainties ADD COLUMN taken_at BIGINT',
    'ALTER TABLE uncertainties ADD COLUMN taken_by_agent_id TEXT',
  ];
}
