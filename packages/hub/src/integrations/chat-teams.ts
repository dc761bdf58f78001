import { CHAT_TEAM_PROOF_MS, CHAT_TEAMS_MAX } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import { invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Database, Tx } from '../db/engine.ts';
import { deleteRows, upsertRow } from '../db/row-write.ts';
import { drawUserCode } from '../devices/start-login.ts';
import {
  type ChatTeamClaimRow,
  type ChatTeamRow,
  deleteChatTeamClaim,
  listChatTeamClaims,
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

/** A mapped team, or one that a workspace wants and that has not proved it yet. */
export type KnownTeam = ChatTeamRow | ChatTeamClaimRow;

/**
 * Asks for the messages of a chat team. They come once a message of the team has brought the code:
 * anyone who knows the id of a team could ask (`confirm-chat-team.ts`). A team of this workspace is
 * renamed.
 *
 * @throws HubError NOT_ALLOWED, INVALID_REQUEST
 */
export function claimChatTeam(
  { database }: TeamDeps,
  principal: Principal,
  { workspaceId, teamId, name }: TeamRef & { name: string },
): Promise<KnownTeam> {
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'chat-team.manage');
    const teams = await listKnownTeams(tx, workspaceId);
    const known = teams.find((team) => team.team_id === teamId);
    if (known === undefined) refuseTooMany(teams);
    if (known !== undefined && !isClaim(known)) {
      return renameTeam(tx, { ...known, name }, personId);
    }
    const claim: ChatTeamClaimRow = {
      workspace_id: workspaceId,
      team_id: teamId,
      name,
      code: drawUserCode(),
      created_by: personId,
      created_at: tx.nowMs,
      expires_at: tx.nowMs + CHAT_TEAM_PROOF_MS,
    };
    // It replaces the one before, with its code.
    await upsertRow(tx, 'chat_team_claims', claim, ['workspace_id', 'team_id']);
    const entry = { workspaceId, actor: personId, action: 'chat-team.claim', subject: teamId };
    await appendAudit(tx, { ...entry, data: { name } });
    return claim;
  });
}

/**
 * Maps a chat team by the operator, who needs no proof.
 * @throws HubError INVALID_REQUEST, also for a team of another workspace.
 */
export async function mapChatTeam(
  tx: Tx,
  { workspaceId, teamId, name }: TeamRef & { name: string },
): Promise<ChatTeamRow> {
  const teams = await listKnownTeams(tx, workspaceId);
  const known = teams.find((team) => team.team_id === teamId);
  if (known === undefined) refuseTooMany(teams);
  const actor = 'operator';
  if (known !== undefined && !isClaim(known)) return renameTeam(tx, { ...known, name }, actor);
  return addTeam(tx, {
    workspace_id: workspaceId,
    team_id: teamId,
    name,
    created_by: actor,
    created_at: tx.nowMs,
  });
}

/**
 * Adds the mapping of a team and ends the claim on it.
 *
 * @param proof who sent the code, for the audit log; absent for the operator.
 * @throws HubError INVALID_REQUEST when the team belongs to another workspace.
 */
export async function addTeam(
  tx: Tx,
  row: ChatTeamRow,
  proof: Record<string, unknown> = {},
): Promise<ChatTeamRow> {
  const { workspace_id: workspaceId, team_id: teamId, name, created_by: actor } = row;
  await deleteChatTeamClaim(tx, workspaceId, teamId);
  if (!(await putChatTeam(tx, row))) {
    throw invalidField(
      '/teamId',
      'must not be a team that is mapped to another workspace of this hub: remove it there first',
    );
  }
  const entry = { workspaceId, actor, action: 'chat-team.add', subject: teamId };
  await appendAudit(tx, { ...entry, data: { name, ...proof } });
  return row;
}

async function renameTeam(tx: Tx, row: ChatTeamRow, actor: string): Promise<ChatTeamRow> {
  const { workspace_id: workspaceId, team_id: subject, name } = row;
  await putChatTeam(tx, row);
  await appendAudit(tx, {
    workspaceId,
    actor,
    action: 'chat-team.rename',
    subject,
    data: { name },
  });
  return row;
}

/** @throws HubError NOT_ALLOWED */
export async function listTeams(
  { database: { reader } }: TeamDeps,
  principal: Principal,
  workspaceId: string,
  nowMs: number,
): Promise<KnownTeam[]> {
  await requireAct(reader, principal, workspaceId, 'chat-team.manage');
  const [teams, claims] = await Promise.all([
    listChatTeams(reader, workspaceId),
    listChatTeamClaims(reader, workspaceId, nowMs),
  ]);
  return [...teams, ...claims];
}

/** @returns false when the workspace did not have the team. @throws HubError NOT_ALLOWED */
export function removeChatTeam(
  { database }: TeamDeps,
  principal: Principal,
  { workspaceId, teamId }: TeamRef,
): Promise<boolean> {
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'chat-team.manage');
    const wasClaimed = await deleteChatTeamClaim(tx, workspaceId, teamId);
    const team = { workspace_id: workspaceId, team_id: teamId };
    const mapped = await deleteRows(tx, 'chat_teams', team);
    if (mapped === 0 && !wasClaimed) return false;
    const action = 'chat-team.remove';
    await appendAudit(tx, { workspaceId, actor: personId, action, subject: teamId });
    return true;
  });
}

export function isClaim(team: KnownTeam): team is ChatTeamClaimRow {
  return 'code' in team;
}

async function listKnownTeams(tx: Tx, workspaceId: string): Promise<KnownTeam[]> {
  const teams = await listChatTeams(tx, workspaceId);
  return [...teams, ...(await listChatTeamClaims(tx, workspaceId, tx.nowMs))];
}

function refuseTooMany(teams: readonly KnownTeam[]): void {
  if (teams.length < CHAT_TEAMS_MAX) return;
  throw invalidField('', `exceeds the limit of ${CHAT_TEAMS_MAX} chat teams: remove one first`);
}
