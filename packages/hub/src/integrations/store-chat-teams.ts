import type { Reader, Tx } from '../db/engine.ts';
import type { ChatTeamsTable } from '../db/schema/integrations.ts';

export type ChatTeamRow = ChatTeamsTable;

/** Finds the mapping of a team. The messages of a team name no workspace. */
export function readChatTeam(reader: Reader, teamId: string): Promise<ChatTeamRow | undefined> {
  return reader.firstSql<ChatTeamRow>('SELECT * FROM chat_teams WHERE team_id = ?', [teamId]);
}

export function listChatTeams(reader: Reader, workspaceId: string): Promise<ChatTeamRow[]> {
  return reader.allSql<ChatTeamRow>(
    'SELECT * FROM chat_teams WHERE workspace_id = ? ORDER BY team_id',
    [workspaceId],
  );
}

/** Adds a team or renames it. False when it is mapped to another workspace. */
export async function putChatTeam(tx: Tx, row: ChatTeamRow): Promise<boolean> {
  const { changes } = await tx.runSql(
    `INSERT INTO chat_teams (workspace_id, team_id, name, created_by, created_at)
     VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (team_id) DO UPDATE SET name = excluded.name
       WHERE chat_teams.workspace_id = excluded.workspace_id`,
    [row.workspace_id, row.team_id, row.name, row.created_by, row.created_at],
  );
  return changes > 0;
}

export async function deleteChatTeam(
  tx: Tx,
  workspaceId: string,
  teamId: string,
): Promise<boolean> {
  const { changes } = await tx.runSql(
    'DELETE FROM chat_teams WHERE workspace_id = ? AND team_id = ?',
    [workspaceId, teamId],
  );
  return changes > 0;
}
