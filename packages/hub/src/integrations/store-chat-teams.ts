import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows } from '../db/row-write.ts';
import { allColumns } from '../db/schema/columns.ts';
import type { ChatTeamClaimsTable, ChatTeamsTable } from '../db/schema/integrations.ts';

export type ChatTeamRow = ChatTeamsTable;
export type ChatTeamClaimRow = ChatTeamClaimsTable;

/** Finds the mapping of a team. The messages of a team name no workspace. */
export function readChatTeam(reader: Reader, teamId: string): Promise<ChatTeamRow | undefined> {
  return reader.firstSql<ChatTeamRow>(
    `SELECT ${allColumns.chat_teams} FROM chat_teams WHERE team_id = ?`,
    [teamId],
  );
}

export function listChatTeams(reader: Reader, workspaceId: string): Promise<ChatTeamRow[]> {
  return reader.allSql<ChatTeamRow>(
    `SELECT ${allColumns.chat_teams} FROM chat_teams WHERE workspace_id = ? ORDER BY team_id`,
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
    { verb: 'insert', table: 'chat_teams', about: { workspace_id: row.workspace_id } },
  );
  return changes > 0;
}

/** The claims of a workspace that can still be proved. */
export function listChatTeamClaims(
  reader: Reader,
  workspaceId: string,
  nowMs: number,
): Promise<ChatTeamClaimRow[]> {
  return reader.allSql<ChatTeamClaimRow>(
    `SELECT ${allColumns.chat_team_claims} FROM chat_team_claims
     WHERE workspace_id = ? AND expires_at > ? ORDER BY team_id`,
    [workspaceId, nowMs],
  );
}

/** Finds the claim that a code proves. The messages of a team name no workspace. */
export function readChatTeamClaim(
  reader: Reader,
  teamId: string,
  code: string,
  nowMs: number,
): Promise<ChatTeamClaimRow | undefined> {
  return reader.firstSql<ChatTeamClaimRow>(
    `SELECT ${allColumns.chat_team_claims} FROM chat_team_claims WHERE team_id = ? AND code = ? AND expires_at > ?`,
    [teamId, code, nowMs],
  );
}

export async function deleteChatTeamClaim(
  tx: Tx,
  workspaceId: string,
  teamId: string,
): Promise<boolean> {
  const changes = await deleteRows(tx, 'chat_team_claims', {
    workspace_id: workspaceId,
    team_id: teamId,
  });
  return changes > 0;
}
