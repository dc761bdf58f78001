import { hash } from 'node:crypto';
import type { ContextItemKind, TrustLabel } from '@signalbox/contract';
import { HubError, invalidField } from '../base/errors.ts';
import type { Tx } from '../db/engine.ts';
import { upsertRow } from '../db/row-write.ts';
import { type HookDeps, runHooks } from '../start/hooks.ts';
import { applyPolicyToNames, readDataPolicy } from './data-policy.ts';
import { finishText, type PreparedText } from './prepare-text.ts';
import { indexItem, splitText } from './search/search.ts';
import { type ContextItemRow, readItem, readItemBySource } from './store.ts';

/**
 * The fields of a new or replaced item. Absent fields mean the same as in the contract's upsert.
 */
export interface ContextItemDraft {
  workspaceId: string;
  /** Replaces this item, which must exist. */
  itemId?: string | undefined;
  kind: ContextItemKind;
  title: string;
  text: string;
  /** The text as `prepareText` returned it. */
  preparedText?: PreparedText | undefined;
  source: string;
  /** Identifies the item within `source`: the same reference replaces the item. */
  sourceRef?: string | undefined;
  threadRef?: string | undefined;
  trust: TrustLabel;
  pinned?: boolean | undefined;
  /** Whether the text was already shortened before it reached the hub. */
  truncated?: boolean | undefined;
  occurredAtMs?: number | undefined;
  supersededBy?: string | undefined;
  validFromMs?: number | undefined;
  validToMs?: number | undefined;
  /** A principal's id, or the name of the part that wrote the item, such as `integration`. */
  createdBy: string;
}

/**
 * The source of summaries that the hub requested. Their `sourceRef` is the summarized item's id.
 */
export const SUMMARY_SOURCE = 'cloud-ai';
/** A chain gets one item per replacement of its first item; a longer one is a mistake. */
const SUCCESSORS_MAX = 100;
/** Current tokenizers make about one token of four characters of English or of code. */
const ASCII_CHARS_PER_TOKEN = 4;

/**
 * Adds a context item, or replaces the one with the same id or the same source and reference, in
 * the caller's transaction. The workspace's data policy is read in the same transaction and applied
 * before anything is written. The item's words are indexed in it and `onItemAdded` runs.
 *
 * @throws HubError CONTEXT_ITEM_NOT_FOUND for an unknown `itemId` or `supersededBy`;
 *   INVALID_REQUEST for an item that would supersede itself, directly or through other items.
 */
export async function addContextItem(
  tx: Tx,
  deps: HookDeps,
  draft: ContextItemDraft,
): Promise<{ item: ContextItemRow; created: boolean }> {
  const { workspaceId } = draft;
  const policy = await readDataPolicy(tx, workspaceId);
  const { text, truncated, split } = finishText(tx.engine, policy, draft);
  const { title, sourceRef, threadRef } = applyPolicyToNames(policy, {
    title: draft.title,
    sourceRef: draft.sourceRef ?? null,
    threadRef: draft.threadRef ?? null,
  });
  const known = await findKnown(tx, draft, sourceRef);
  const itemId = known?.item_id ?? deps.ids('contextItem');
  await checkSuccessor(tx, workspaceId, itemId, draft.supersededBy);
  const item: ContextItemRow = {
    workspace_id: workspaceId,
    item_id: itemId,
    kind: draft.kind,
    title,
    source: draft.source,
    source_ref: sourceRef,
    thread_ref: threadRef,
    trust: draft.trust,
    pinned: draft.pinned === true ? 1 : 0,
    truncated: truncated || draft.truncated === true ? 1 : 0,
    content_hash: hash('sha256', text),
    tokens: estimateTokens(title) + estimateTokens(text),
    occurred_at: draft.occurredAtMs ?? tx.nowMs,
    superseded_by: draft.supersededBy ?? null,
    valid_from: draft.validFromMs ?? null,
    valid_to: draft.validToMs ?? null,
    created_by: known?.created_by ?? draft.createdBy,
    created_at: known?.created_at ?? tx.nowMs,
    updated_at: tx.nowMs,
    text,
  };
  await upsertRow(tx, 'context_items', item, ['workspace_id', 'item_id']);
  await indexItem(tx, {
    workspaceId,
    itemId,
    title: splitText(tx.engine, title),
    text: split,
    isCurrent: item.superseded_by === null,
  });
  await runHooks(deps.hooks.onItemAdded, deps, tx, item);
  return { item, created: known === undefined };
}

async function findKnown(
  tx: Tx,
  draft: ContextItemDraft,
  sourceRef: string | null,
): Promise<ContextItemRow | undefined> {
  const { workspaceId, itemId, source } = draft;
  const named =
    sourceRef === null ? undefined : await readItemBySource(tx, workspaceId, source, sourceRef);
  if (itemId === undefined) return named;
  const known = await readItem(tx, workspaceId, itemId);
  if (known === undefined) throw new HubError('CONTEXT_ITEM_NOT_FOUND');
  if (named !== undefined && named.item_id !== itemId) {
    throw invalidField('/sourceRef', 'must not be the reference of another item of this source');
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
      throw invalidField('/supersededBy', 'must not lead back to the item itself');
    }
    const successor = await readItem(tx, workspaceId, next);
    if (successor === undefined) {
      // Later successors may have been deleted since; the one in the request must exist.
      if (steps > 0) return;
      throw new HubError('CONTEXT_ITEM_NOT_FOUND');
    }
    next = successor.superseded_by;
  }
}

/**
 * Estimates how many tokens a model reads for a text: a quarter of a token for each ASCII
 * character, one for any other. Models differ, and the hub does not know which one will read the
 * text. The estimate is too high rather than too low for most scripts, so a budget holds.
 */
function estimateTokens(text: string): number {
  let others = 0;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) others += 1;
  return Math.ceil((text.length - others) / ASCII_CHARS_PER_TOKEN) + others;
}
