import { CHAT_TEAMS_MAX } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import type { Database } from '../db/engine.ts';
import { invalidField } from '../errors.ts';
import type { Principal } from '../principal.ts';
import {
  type ChatTeamRow,
  deleteChatTeam,
  listChatTeams,
  putChatTeam,
} from './store-chat-teams.ts';

interface TeamDeps {
  database: Database;
}
interface TeamRef {
  workspaceId: string;
  teamId: string;
}

/**
 * Maps a chat team to a workspace, which then receives the team's messages. The first workspace
 * that maps a team keeps it: another one can map it only after the first has unmapped it.
 *
 * @throws HubError NOT_ALLOWED, INVALID_REQUEST
 */
export function mapChatTeam(
  { database }: TeamDeps,
  principal: Principal,
  { workspaceId, teamId, name }: TeamRef & { name: string },
): Promise<ChatTeamRow> {
  return database.write(null, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'chat-team.manage');
    const teams = await listChatTeams(tx, workspaceId);
    const known = teams.find((team) => team.team_id === teamId);
    if (known === undefined && teams.length >= CHAT_TEAMS_MAX) {
      throw invalidField('', `exceeds the limit of ${CHAT_TEAMS_MAX} chat teams: unmap one first`);
    }
    const row: ChatTeamRow = {
      workspace_id: workspaceId,
      team_id: teamId,
      name,
      created_by: known?.created_by ?? personId,
      created_at: known?.created_at ?? tx.nowMs,
    };
    if (!(await putChatTeam(tx, row))) {
      throw invalidField(
        '/teamId',
        'must not be a team that is mapped to another workspace of this hub',
      );
    }
    const action = known === undefined ? 'chat-team.add' : 'chat-team.rename';
    const entry = { workspaceId, actor: personId, action, subject: teamId, data: { name } };
    await appendAudit(tx, entry);
    return row;
  });
}

/** @throws HubError NOT_ALLOWED */
export async function listMappedTeams(
  { database: { reader } }: TeamDeps,
  principal: Principal,
  workspaceId: string,
): Promise<ChatTeamRow[]> {
  await requireAct(reader, principal, workspaceId, 'chat-team.manage');
  return listChatTeams(reader, workspaceId);
}

/** @returns false when the team was not mapped. @throws HubError NOT_ALLOWED */
export function unmapChatTeam(
  { database }: TeamDeps,
  principal: Principal,
  { workspaceId, teamId }: TeamRef,
): Promise<boolean> {
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'chat-team.manage');
    const deleted = await deleteChatTeam(tx, workspaceId, teamId);
    if (deleted) {
      const action = 'chat-team.remove';
      await appendAudit(tx, { workspaceId, actor: personId, action, subject: teamId });
    }
    return deleted;
  });
}
