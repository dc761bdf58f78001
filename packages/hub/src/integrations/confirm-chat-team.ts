import { CHAT_TEAM_CODE_PREFIX, normalizeUserCode } from '@signalbox/contract';
import { mayAct } from '../access/policy.ts';
import { readRole } from '../access/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { ChatReading } from './chat-event.ts';
import { addTeam } from './chat-teams.ts';
import type { InboundEvent } from './event.ts';
import { type RecordedEvent, recordEvent, screenEvent } from './record-event.ts';
import { type ChatTeamClaimRow, readChatTeam, readChatTeamClaim } from './store-chat-teams.ts';

const codePattern = new RegExp(`\\b${CHAT_TEAM_CODE_PREFIX}([a-z]{4}-?[a-z]{4})\\b`, 'i');

/**
 * Maps a team by a message of it that brings the code of a claim: the signature proves that the
 * message comes from the team, and the code that the team means this workspace. The person who
 * claimed the team must still be allowed to. The message itself is not kept.
 *
 * @returns null when the message proves nothing; it is handled like any other of an unmapped team.
 */
export async function confirmChatTeam(
  deps: HubDeps,
  teamId: string,
  reading: ChatReading,
  event: InboundEvent,
): Promise<RecordedEvent | null> {
  const code = codeIn(reading);
  if (code === null) return null;
  const { database, clock } = deps;
  const found = await readChatTeamClaim(database.reader, teamId, code, clock.nowMs());
  if (found === undefined) return null;
  const { workspace_id: workspaceId } = found;
  const title = 'Confirmation of the chat team';
  const bare = { ...event, title, content: '', data: { teamId } };
  const screened = await screenEvent(deps, workspaceId, bare);
  return database.write(workspaceId, async (tx) => {
    const claim = await readChatTeamClaim(tx, teamId, code, tx.nowMs);
    const isStillOpen = claim?.workspace_id === workspaceId;
    if (!isStillOpen || (await readChatTeam(tx, teamId)) !== undefined) return null;
    const role = await readRole(tx, claim.created_by, workspaceId);
    if (role === null || !mayAct(role, 'chat-team.manage')) return null;
    await addTeam(tx, rowOf(claim, tx.nowMs), proofOf(reading));
    return recordEvent(deps, tx, screened, async () => ({ ignored: 'team_confirmation' }));
  });
}

function codeIn(reading: ChatReading): string | null {
  if (reading.kind !== 'message') return null;
  const [, code] = codePattern.exec(reading.message.text) ?? [];
  return code === undefined ? null : normalizeUserCode(code);
}

function rowOf({ workspace_id, team_id, name, created_by }: ChatTeamClaimRow, nowMs: number) {
  return { workspace_id, team_id, name, created_by, created_at: nowMs };
}

/** Who sent the code and where, by the ids of the chat, for the audit log. */
function proofOf(reading: ChatReading): Record<string, unknown> {
  if (reading.kind !== 'message') return {};
  const { user, channel } = reading.message;
  return { confirmedBy: user, channel };
}
