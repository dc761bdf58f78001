import { hash } from 'node:crypto';
import type { ContextItemKind, IdSource, TrustLabel } from '@signalbox/contract';
import type { Tx } from '../db/engine.ts';
import { assert, HubError, invalidField } from '../errors.ts';
import { readWorkspace } from '../workspaces/store.ts';
import { applyDataPolicy, type DataPolicy } from './data-policy.ts';
import { indexItem, unindexItem } from './search/search.ts';
import {
  deleteItem,
  type ItemRow,
  listOldItemIds,
  readItem,
  readItemBySource,
  writeItem,
} from './store.ts';
import { estimateTokens } from './token-estimate.ts';

/** What a new or replaced item says; absent fields are as in the contract's upsert. */
export interface ContextItemDraft {
  workspaceId: string;
  /** Writes this item; it must exist. */
  itemId?: string | undefined;
  kind: ContextItemKind;
  title: string;
  text: string;
  source: string;
  /** With `source`, the item's name at its source: the same again replaces the item. */
  sourceRef?: string | undefined;
  threadRef?: string | undefined;
  trust: TrustLabel;
  pinned?: boolean | undefined;
  /** Whether `text` is less than there was before the hub got it. */
  truncated?: boolean | undefined;
  occurredAtMs?: number | undefined;
  supersededBy?: string | undefined;
  validFromMs?: number | undefined;
  validToMs?: number | undefined;
  /** A principal's id, or who else wrote it, such as `integration`. */
  createdBy: string;
}

/** Where the summaries come from that the hub lets make; they refer to the item by its id. */
export const SUMMARY_SOURCE = 'cloud-ai';
/** Kinds that come from outside and fall under `retentionDays`; what people wrote stays. */
const retainedForDays = ['event', 'chat_message', 'mail_message'] as const;
/** Chains are as long as an item was replaced often; anything longer is a mistake. */
const SUCCESSORS_MAX = 100;

/**
 * Adds a context item, or replaces the one with the same id or the same source and reference, in
 * the caller's own transaction. The workspace's data policy is read in it and applied before
 * anything is written; the item's words are indexed in it as well.
 *
 * @throws HubError CONTEXT_ITEM_NOT_FOUND for an unknown `itemId` or `supersededBy`;
 *   INVALID_REQUEST for an item that would supersede itself, by whatever detour.
 */
export async function addContextItem(
  tx: Tx,
  { ids }: { ids: IdSource },
  draft: ContextItemDraft,
): Promise<{ item: ItemRow; created: boolean }> {
  const { workspaceId } = draft;
  const kept = applyDataPolicy(await readDataPolicy(tx, workspaceId), {
    title: draft.title,
    text: draft.text,
    sourceRef: draft.sourceRef ?? null,
    threadRef: draft.threadRef ?? null,
  });
  const known = await findKnown(tx, draft, kept.sourceRef);
  const itemId = known?.item_id ?? ids('contextItem');
  await checkSuccessor(tx, workspaceId, itemId, draft.supersededBy);
  const item: ItemRow = {
    workspace_id: workspaceId,
    item_id: itemId,
    kind: draft.kind,
    title: kept.title,
    source: draft.source,
    source_ref: kept.sourceRef,
    thread_ref: kept.threadRef,
    trust: draft.trust,
    pinned: draft.pinned === true ? 1 : 0,
    truncated: kept.truncated || draft.truncated === true ? 1 : 0,
    content_hash: hash('sha256', kept.text),
    tokens: estimateTokens(kept.title) + estimateTokens(kept.text),
    occurred_at: draft.occurredAtMs ?? tx.nowMs,
    superseded_by: draft.supersededBy ?? null,
    valid_from: draft.validFromMs ?? null,
    valid_to: draft.validToMs ?? null,
    created_by: known?.created_by ?? draft.createdBy,
    created_at: known?.created_at ?? tx.nowMs,
    updated_at: tx.nowMs,
    text: kept.text,
  };
  await writeItem(tx, item);
  await indexItem(tx, {
    workspaceId,
    itemId,
    title: item.title,
    text: item.text,
    isCurrent: item.superseded_by === null,
  });
  return { item, created: known === undefined };
}

/**
 * Forgets items from outside that are past their retention, in packs as well: what is to be gone
 * after so many days is gone, also from snapshots. For the retention loop.
 *
 * @returns how many; as many as `limit` when there may be more.
 */
export async function forgetOldContext(
  tx: Tx,
  age: { workspaceId: string; beforeMs: number; limit: number },
): Promise<number> {
  const { workspaceId } = age;
  const itemIds = await listOldItemIds(tx, workspaceId, { ...age, kinds: retainedForDays });
  for (const itemId of itemIds) await forgetItem(tx, workspaceId, itemId);
  return itemIds.length;
}

/** Takes an item away, its copies in packs and its summary with it. */
export async function forgetItem(tx: Tx, workspaceId: string, itemId: string): Promise<void> {
  const summary = await readItemBySource(tx, workspaceId, SUMMARY_SOURCE, itemId);
  const itemIds = summary === undefined ? [itemId] : [itemId, summary.item_id];
  for (const id of itemIds) {
    await unindexItem(tx, workspaceId, id);
    await deleteItem(tx, workspaceId, id);
    await tx.runSql('DELETE FROM context_pack_items WHERE workspace_id = ? AND item_id = ?', [
      workspaceId,
      id,
    ]);
  }
}

/** The policy of a workspace that is known to exist. */
export async function readDataPolicy(
  reader: Pick<Tx, 'firstSql'>,
  workspaceId: string,
): Promise<DataPolicy> {
  const row = await readWorkspace(reader as Tx, workspaceId);
  assert(row !== undefined, 'a workspace that was entered exists');
  return { contentStorage: row.content_storage, redactSecrets: row.redact_secrets === 1 };
}

async function findKnown(
  tx: Tx,
  draft: ContextItemDraft,
  sourceRef: string | null,
): Promise<ItemRow | undefined> {
  const { workspaceId, itemId, source } = draft;
  const named =
    sourceRef === null ? undefined : await readItemBySource(tx, workspaceId, source, sourceRef);
  if (itemId === undefined) return named;
  const known = await readItem(tx, workspaceId, itemId);
  if (known === undefined) throw new HubError('CONTEXT_ITEM_NOT_FOUND');
  if (named !== undefined && named.item_id !== itemId) {
    throw invalidField('/sourceRef', 'is the reference of another item of this source');
  }
  return known;
}

async function checkSuccessor(
  tx: Tx,
  workspaceId: string,
  itemId: string,
  supersededBy: string | undefined,
): Promise<void> {
  let next = supersededBy ?? null;
  for (let steps = 0; next !== null; steps++) {
    if (next === itemId || steps > SUCCESSORS_MAX) {
      throw invalidField('/supersededBy', 'leads back to the item itself');
    }
    const successor = await readItem(tx, workspaceId, next);
    if (successor === undefined) {
      // A successor further down may have been forgotten since; the one that is named may not.
      if (steps > 0) return;
      throw new HubError('CONTEXT_ITEM_NOT_FOUND');
    }
    next = successor.superseded_by;
  }
}
