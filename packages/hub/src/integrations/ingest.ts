import type { AnswerOf, endpoints, RequestInput, TriggeredRun } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { addContextItem } from '../context/add-item.ts';
import { type PreparedText, prepareText } from '../context/prepare-text.ts';
import { readItemBySource } from '../context/store.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { IntegrationWorkspaces } from '../start/setting-values.ts';
import { type FiringRow, listFirings } from '../triggers/store-firings.ts';
import { readWorkspace, readWorkspaceBySlug, type WorkspaceRow } from '../workspaces/store.ts';
import { type EventAddress, readIngest } from './event.ts';
import type { StorableEvent } from './event-policy.ts';
import { recordEvent, type ScreenedEvent, screenEvent } from './record-event.ts';

type IngestInput = RequestInput<typeof endpoints.integrations.ingest.request>;

export interface IngestDeps extends HubDeps {
  /** The workspaces that the hub's own secret opens. */
  integrationWorkspaces: IntegrationWorkspaces;
}

/**
 * Ingests an event of another system: the ledger's row, the context item, and the runs and jobs of
 * matching triggers are written in one transaction. Concurrent deliveries with the same key count
 * as one event.
 *
 * @throws HubError WORKSPACE_NOT_FOUND, INVALID_REQUEST
 */
export async function ingestEvent(
  deps: IngestDeps,
  principal: Principal,
  input: IngestInput,
): Promise<AnswerOf<typeof endpoints.integrations.ingest>> {
  const { event, address } = readIngest(input);
  const workspaceId = await findWorkspaceId(deps, principal, address);
  const screened = await screenEvent(deps, workspaceId, event);
  const preparedText = await prepareText(deps, workspaceId, screened.storable.content, true);
  return deps.database.write(workspaceId, async (tx) => {
    const recorded = await recordEvent(deps, tx, screened, (storable) =>
      addEventItem(deps, tx, screened, { storable, preparedText }),
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

/**
 * Finds the workspace that an event names, if the secret opens it. Unknown and closed workspaces
 * are refused alike.
 */
async function findWorkspaceId(
  { database: { reader }, integrationWorkspaces }: IngestDeps,
  principal: Principal,
  address: EventAddress,
): Promise<string> {
  const { workspaceId, workspaceSlug } = address;
  const workspace =
    workspaceId === undefined
      ? await readWorkspaceBySlug(reader, workspaceSlug ?? '')
      : await readWorkspace(reader, workspaceId);
  const isMatch = workspaceSlug === undefined || workspace?.slug === workspaceSlug;
  const isOpen =
    workspace !== undefined &&
    (principal.workspaceId === null
      ? opensByHub(integrationWorkspaces, workspace)
      : principal.workspaceId === workspace.workspace_id);
  if (isMatch && isOpen) return workspace.workspace_id;
  throw new HubError(
    'WORKSPACE_NOT_FOUND',
    'This secret opens no such workspace: check the id or slug, or mint a secret in the workspace.',
  );
}

/** Whether the hub's own secret opens a workspace, by the operator's setting. */
function opensByHub(setting: IntegrationWorkspaces, workspace: WorkspaceRow): boolean {
  if (setting === 'all') return true;
  if (setting === 'operator') return workspace.created_by_operator === 1;
  return setting.includes(workspace.slug);
}

/**
 * Adds the context item of an event. The newest event with the same reference replaces the item of
 * the event before; an older one is added as superseded. Only event items are replaced: the ingest
 * secret must not overwrite items that people wrote.
 */
async function addEventItem(
  deps: HubDeps,
  tx: Tx,
  { workspaceId, event }: ScreenedEvent,
  { storable, preparedText }: { storable: StorableEvent; preparedText: PreparedText | undefined },
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
    preparedText,
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
