import type { endpoints, RequestInput, TriggeredRun } from '@signalbox/contract';
import { offerSummary } from '../cloud-ai-jobs/offer-actions.ts';
import { addContextItem } from '../context/add-item.ts';
import { readItemBySource } from '../context/store.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { type FiringRow, listFirings } from '../triggers/store-firings.ts';
import { readWorkspace, readWorkspaceBySlug } from '../workspaces/store.ts';
import { type EventAddress, type InboundEvent, readIngest } from './event.ts';
import type { KeptEvent } from './keeping-actions.ts';
import { recordEvent } from './record-event.ts';

type IngestInput = RequestInput<typeof endpoints.integrations.ingest.request>;

export interface IngestAnswer {
  eventId: string;
  duplicate: boolean;
  contextItemId: string | null;
  triggered: TriggeredRun[];
}

/**
 * Takes in an event of another system: once per key, whatever races, and all that comes of it in
 * one transaction.
 *
 * @throws HubError WORKSPACE_NOT_FOUND, INVALID_REQUEST
 */
export async function ingestEvent(deps: HubDeps, input: IngestInput): Promise<IngestAnswer> {
  const { event, address } = readIngest(input);
  const workspaceId = await findAddressee(deps.database.reader, address);
  return deps.database.write(workspaceId, async (tx) => {
    const recorded = await recordEvent(deps, tx, workspaceId, event, (kept) =>
      writeEventItem(deps, tx, workspaceId, event, kept),
    );
    const { row, isDuplicate } = recorded;
    const firings = isDuplicate
      ? await listFirings(tx, workspaceId, row.event_id)
      : recorded.firings;
    return {
      eventId: row.event_id,
      duplicate: isDuplicate,
      contextItemId: row.context_item_id,
      triggered: firings.flatMap(triggeredBy),
    };
  });
}

async function findAddressee(reader: Reader, address: EventAddress): Promise<string> {
  const { workspaceId, workspaceSlug } = address;
  const workspace =
    workspaceId === undefined
      ? await readWorkspaceBySlug(reader, workspaceSlug ?? '')
      : await readWorkspace(reader, workspaceId);
  const isMeant = workspaceSlug === undefined || workspace?.slug === workspaceSlug;
  if (workspace === undefined || !isMeant) throw new HubError('WORKSPACE_NOT_FOUND');
  return workspace.workspace_id;
}

/**
 * An event with a reference is the newest word about that thing and takes the place of the event
 * before. What is no event stays, whoever names it: the secret is no key to what people wrote.
 */
async function writeEventItem(
  deps: HubDeps,
  tx: Tx,
  workspaceId: string,
  event: InboundEvent,
  kept: KeptEvent,
): Promise<{ itemId: string }> {
  const { source, sourceRef } = kept;
  const known =
    sourceRef === null ? undefined : await readItemBySource(tx, workspaceId, source, sourceRef);
  const occurredAtMs = event.occurredAtMs ?? tx.nowMs;
  const isNewest = known === undefined || known.occurred_at <= occurredAtMs;
  const takesPlace = known === undefined || (known.kind === 'event' && isNewest);
  const { item } = await addContextItem(tx, deps, {
    workspaceId,
    kind: 'event',
    title: kept.title,
    text: kept.content,
    source,
    sourceRef: takesPlace ? (sourceRef ?? undefined) : undefined,
    threadRef: kept.threadRef ?? undefined,
    trust: 'external',
    truncated: kept.truncated,
    occurredAtMs,
    supersededBy: known?.kind === 'event' && !isNewest ? known.item_id : undefined,
    createdBy: 'integration',
  });
  await offerSummary(deps, tx, item);
  return { itemId: item.item_id };
}

/** What the event itself started when it came; a replay is no part of the first answer. */
function triggeredBy(firing: FiringRow): TriggeredRun[] {
  const { trigger_id: triggerId, run_id: runId, job_id: jobId } = firing;
  const isFirst = firing.replay === 0 && firing.outcome === 'started';
  return isFirst && runId !== null && jobId !== null ? [{ triggerId, runId, jobId }] : [];
}
