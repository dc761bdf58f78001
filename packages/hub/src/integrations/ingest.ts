import type { endpoints, RequestInput, TriggeredRun } from '@signalbox/contract';
import { addContextItem } from '../context/add-item.ts';
import { readItemBySource } from '../context/store.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import type { HubDeps } from '../hub-deps.ts';
import { type FiringRow, listFirings } from '../triggers/store-firings.ts';
import { readWorkspace, readWorkspaceBySlug } from '../workspaces/store.ts';
import { type EventAddress, type InboundEvent, readIngest } from './event.ts';
import { recordEvent, type StorableEvent } from './record-event.ts';

type IngestInput = RequestInput<typeof endpoints.integrations.ingest.request>;

export interface IngestAnswer {
  eventId: string;
  duplicate: boolean;
  contextItemId: string | null;
  triggered: TriggeredRun[];
}

/**
 * Ingests an event of another system: the ledger's row, the context item, and the runs and jobs of
 * matching triggers are written in one transaction. Concurrent deliveries with the same key count
 * as one event.
 *
 * @throws HubError WORKSPACE_NOT_FOUND, INVALID_REQUEST
 */
export async function ingestEvent(deps: HubDeps, input: IngestInput): Promise<IngestAnswer> {
  const { event, address } = readIngest(input);
  const workspaceId = await findWorkspaceId(deps.database.reader, address);
  return deps.database.write(workspaceId, async (tx) => {
    const recorded = await recordEvent(deps, tx, workspaceId, event, (storable) =>
      addEventItem(deps, tx, workspaceId, event, storable),
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

async function findWorkspaceId(reader: Reader, address: EventAddress): Promise<string> {
  const { workspaceId, workspaceSlug } = address;
  const workspace =
    workspaceId === undefined
      ? await readWorkspaceBySlug(reader, workspaceSlug ?? '')
      : await readWorkspace(reader, workspaceId);
  const isMatch = workspaceSlug === undefined || workspace?.slug === workspaceSlug;
  if (workspace === undefined || !isMatch) throw new HubError('WORKSPACE_NOT_FOUND');
  return workspace.workspace_id;
}

/**
 * Adds the context item of an event. The newest event with the same reference replaces the item of
 * the event before; an older one is added as superseded. Only event items are replaced: the ingest
 * secret must not overwrite items that people wrote.
 */
async function addEventItem(
  deps: HubDeps,
  tx: Tx,
  workspaceId: string,
  event: InboundEvent,
  storable: StorableEvent,
): Promise<{ itemId: string }> {
  const { source, sourceRef } = storable;
  const known =
    sourceRef === null ? undefined : await readItemBySource(tx, workspaceId, source, sourceRef);
  const occurredAtMs = event.occurredAtMs ?? tx.nowMs;
  const isNewest = known === undefined || known.occurred_at <= occurredAtMs;
  const takesReference = known === undefined || (known.kind === 'event' && isNewest);
  const { item } = await addContextItem(tx, deps, {
    workspaceId,
    kind: 'event',
    title: storable.title,
    text: storable.content,
    source,
    sourceRef: takesReference ? (sourceRef ?? undefined) : undefined,
    threadRef: storable.threadRef ?? undefined,
    trust: 'external',
    truncated: storable.truncated,
    isTextRedacted: true,
    occurredAtMs,
    supersededBy: known?.kind === 'event' && !isNewest ? known.item_id : undefined,
    createdBy: 'integration',
  });
  return { itemId: item.item_id };
}

/** Selects what the event started when it arrived; replays are not part of this answer. */
function triggeredBy(firing: FiringRow): TriggeredRun[] {
  const { trigger_id: triggerId, run_id: runId, job_id: jobId } = firing;
  const isFirst = firing.replay === 0 && firing.outcome === 'started';
  return isFirst && runId !== null && jobId !== null ? [{ triggerId, runId, jobId }] : [];
}
