import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { deleteRows, upsertRow } from '../db/row-write.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import {
  type ChannelRow,
  endSeen,
  listChannels,
  listOfDecision,
  readVisibleUntil,
} from './store.ts';

type ReportInput = RequestInput<typeof consoleEndpoints.notifications.reportPage.request>;

/** A page reports every 20 s; one that was closed without a report is forgotten. */
const VISIBLE_MS = 45_000;
/** A report of a page that stays visible for longer is not written. */
const RENEWED_MS = 30_000;
const ACT = 'notification.manage-own';

/** The kinds that reach only the person. Others may read the rest, and see no page of theirs. */
const privateKinds: readonly ChannelRow['kind'][] = ['push', 'ntfy', 'mail', 'slack_app'];

/** Whether a page of the person replaces a message by the channel. */
export function isPrivate({ kind }: Pick<ChannelRow, 'kind'>): boolean {
  return privateKinds.includes(kind);
}

/**
 * Records that a page of the person is visible, or not any more. Messages about the question that
 * it shows are not sent to the person.
 *
 * @returns whether there were any.
 * @throws HubError WORKSPACE_NOT_FOUND
 */
export async function reportPage(
  { database, clock }: Pick<HubDeps, 'database' | 'clock'>,
  principal: Principal,
  input: ReportInput,
): Promise<boolean> {
  const { workspaceId, pageId, isVisible, uncertaintyId } = input;
  if (await saysNothingNew(database.reader, principal, input, clock.nowMs())) return false;
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, ACT);
    const page = { workspace_id: workspaceId, person_id: personId, page_id: pageId };
    if (!isVisible) {
      await deleteRows(tx, 'visible_pages', page);
      return false;
    }
    const row = { ...page, until_at: tx.nowMs + VISIBLE_MS };
    await upsertRow(tx, 'visible_pages', row, ['workspace_id', 'person_id', 'page_id']);
    return (
      uncertaintyId !== undefined && (await markSeen(tx, workspaceId, personId, uncertaintyId))
    );
  });
}

/** Pages report whenever a question is read again: a write for each would delay the workspace. */
async function saysNothingNew(
  reader: Reader,
  principal: Principal,
  { workspaceId, pageId, isVisible, uncertaintyId }: ReportInput,
  nowMs: number,
): Promise<boolean> {
  const { personId } = await requireAct(reader, principal, workspaceId, ACT);
  const person = { workspace_id: workspaceId, person_id: personId };
  if (!isVisible) return false;
  const untilMs = await readVisibleUntil(reader, { ...person, page_id: pageId });
  if (untilMs === null || untilMs < nowMs + RENEWED_MS) return false;
  if (uncertaintyId === undefined) return true;
  const rows = await listOfDecision(reader, workspaceId, uncertaintyId);
  return !rows.some(({ person_id, state }) => person_id === personId && state === 'waiting');
}

async function markSeen(
  tx: Tx,
  workspaceId: string,
  personId: string,
  subjectId: string,
): Promise<boolean> {
  const channels = await listChannels(tx, workspaceId);
  const own = channels.filter((channel) => channel.person_id === personId && isPrivate(channel));
  const channelIds = own.map(({ channel_id }) => channel_id);
  return (await endSeen(tx, { workspaceId, subjectId, channelIds })) > 0;
}
