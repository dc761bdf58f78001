import type { EngineName } from '../engine.ts';

/** The last command to each agent, and the milestones that runs have entered. */
export function agentCommands(engine: EngineName): string[] {
  return [
    'ALTER TABLE agents ADD COLUMN command TEXT',
    // Rises with every command of the agent, also when no command stands.
    'ALTER TABLE agents ADD COLUMN command_number BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE agents ADD COLUMN command_reason TEXT',
    'ALTER TABLE agents ADD COLUMN command_by TEXT',
    'ALTER TABLE agents ADD COLUMN command_by_name TEXT',
    'ALTER TABLE agents ADD COLUMN command_asked_at BIGINT',
    'ALTER TABLE agents ADD COLUMN command_acknowledged_at BIGINT',
    `CREATE TABLE run_milestones (
      workspace_id TEXT NOT NULL,
      run_id TEXT NOT NULL,
      seq BIGINT NOT NULL,
      milestone TEXT,
      status TEXT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (workspace_id, run_id, seq)
    )${engine === 'sqlite' ? ' WITHOUT ROWID' : ''}`,
  ];
}
