import type { AnswerOf, endpoints, IgnoredReason, RequestInput } from '@signalbox/contract';
import { HubError, invalidField } from '../base/errors.ts';
import { NO_WORKSPACE, type Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { type ChatReading, readChatEvent, timeOfTs } from './chat-event.ts';
import { confirmChatTeam } from './confirm-chat-team.ts';
import { hashEventKey, type InboundEvent } from './event.ts';
import { recordEvent, rowOf, screenEvent } from './record-event.ts';
import { contentDeleted, type IntegrationEventRow, insertEvent, readEventByKey } from './store.ts';
import { readChatTeam } from './store-chat-teams.ts';
import {
  CHAT_SOURCE,
  chatEventRef,
  chatSource,
  chatText,
  chatThread,
  chatTitle,
  prepareChatTexts,
  writeChatItem,
} from './write-chat-item.ts';

type ChatInput = RequestInput<typeof endpoints.integrations.chatEvents.request>;
type ChatAnswer = AnswerOf<typeof endpoints.integrations.chatEvents>;

const MS_PER_SECOND = 1_000;
const teamPattern = /^[A-Z0-9]{1,100}$/;

/**
 * Ingests an event of the team chat, once per event id. Like `ingestEvent`, it writes everything in
 * one transaction, which is committed before the answer.
 *
 * @throws HubError INVALID_REQUEST; UNAVAILABLE when the team was moved to another workspace
 *   meanwhile: the chat sends the event again.
 */
export async function ingestChatEvent(deps: HubDeps, input: ChatInput): Promise<ChatAnswer> {
  if (input.type === 'url_verification') {
    if (input.challenge === undefined) throw invalidField('/challenge', 'is required');
    return { challenge: input.challenge };
  }
  // Such as app_rate_limited, which is not about a message.
  if (input.type !== 'event_callback') return { ignored: 'event_type' };
  const { event_id: chatEventId, team_id: teamId } = input;
  if (chatEventId === undefined) throw invalidField('/event_id', 'is required');
  if (teamId === undefined || !teamPattern.test(teamId)) {
    throw invalidField('/team_id', 'must be 1 to 100 upper-case letters and digits');
  }
  const reading = readChatEvent(input.event ?? {});
  const event = eventOf(reading, teamId, {
    keyHash: hashEventKey('chat', chatEventId),
    eventTimeMs: input.event_time === undefined ? null : input.event_time * MS_PER_SECOND,
  });
  const known = await readChatTeam(deps.database.reader, teamId);
  if (known === undefined) {
    const confirmed = await confirmChatTeam(deps, teamId, reading, event);
    if (confirmed !== null) return answerOf(confirmed.row, confirmed.isDuplicate);
  }
  const screened = known === undefined ? null : await screenEvent(deps, known.workspace_id, event);
  const place = { workspaceId: known?.workspace_id ?? NO_WORKSPACE, teamId };
  const preparedTexts =
    known === undefined ? new Map() : await prepareChatTexts(deps, place, reading);
  return deps.database.write(place.workspaceId, async (tx) => {
    const team = await readChatTeam(tx, teamId);
    if (team?.workspace_id !== known?.workspace_id) {
      throw new HubError(
        'UNAVAILABLE',
        'The chat team was moved to another workspace: send the event again.',
      );
    }
    if (screened === null) return ignoreUnmapped(deps, tx, event, teamId);
    const { row, isDuplicate } = await recordEvent(deps, tx, screened, async () =>
      reading.kind === 'ignored'
        ? { ignored: reading.reason }
        : writeChatItem(deps, tx, { ...place, preparedTexts }, reading),
    );
    return answerOf(row, isDuplicate);
  });
}

function answerOf(row: IntegrationEventRow, duplicate: boolean): ChatAnswer {
  const answer: ChatAnswer = { eventId: row.event_id, duplicate };
  // Only reasons of the contract are written.
  if (row.ignored_reason !== null) answer.ignored = row.ignored_reason as IgnoredReason;
  return answer;
}

/** Records that an unmapped team sent an event. Its content is not stored. */
async function ignoreUnmapped(
  { ids }: Pick<HubDeps, 'ids'>,
  tx: Tx,
  event: InboundEvent,
  teamId: string,
): Promise<ChatAnswer> {
  const storable = { ...event, source: chatSource(teamId) };
  const row: IntegrationEventRow = {
    ...rowOf(tx, NO_WORKSPACE, ids('integrationEvent'), { event, storable }),
    status: 'ignored',
    ignored_reason: 'team_unmapped',
    ...contentDeleted(tx),
  };
  if (await insertEvent(tx, row)) return answerOf(row, false);
  const first = await readEventByKey(tx, NO_WORKSPACE, event.keyHash);
  return answerOf(first ?? row, true);
}

/** Converts a chat event to the fields that all events have, which triggers match on. */
function eventOf(
  reading: ChatReading,
  teamId: string,
  { keyHash, eventTimeMs }: { keyHash: string; eventTimeMs: number | null },
): InboundEvent {
  const bare: InboundEvent = {
    channel: 'chat',
    keyHash,
    source: CHAT_SOURCE,
    type: '',
    occurredAtMs: eventTimeMs,
    title: null,
    content: '',
    actor: null,
    threadRef: null,
    sourceRef: null,
    data: { teamId },
    extensions: {},
  };
  if (reading.kind === 'ignored') return { ...bare, type: reading.type };
  if (reading.kind === 'deletion') {
    const { channel, ts } = reading;
    const type = 'message_deleted';
    return { ...bare, type, data: { teamId, channel, ts }, occurredAtMs: timeOfTs(reading.atTs) };
  }
  const { message } = reading;
  const { channel, channelType, ts, threadTs, user, files } = message;
  return {
    ...bare,
    type: reading.kind === 'edit' ? 'message_changed' : reading.type,
    occurredAtMs: timeOfTs(reading.kind === 'edit' ? reading.editedTs : ts),
    title: chatTitle(message),
    content: chatText(message),
    actor: user,
    threadRef: chatThread(teamId, message),
    sourceRef: chatEventRef(teamId, message),
    data: { teamId, channel, channelType, ts, threadTs, user, files },
  };
}
