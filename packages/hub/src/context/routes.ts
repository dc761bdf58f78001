import { endpoints } from '@signalbox/contract';
import { invalidField } from '../base/errors.ts';
import type { Api } from '../http/bind.ts';
import { decodeCursor, encodeCursor, pageOf } from '../http/paging.ts';
import { buildRunPack } from './build-pack.ts';
import type { ContextDeps } from './deps.ts';
import { presentItem, presentSummary } from './present.ts';
import { MATCHES_MAX, requireItem, searchItems } from './read-items.ts';
import { removeContextItem } from './remove-item.ts';
import { resolveRunPack } from './resolve-pack.ts';
import { type ContextItemHead, type ItemPlace, listItemHeads } from './store.ts';
import { upsertContextItem } from './upsert-item.ts';

export function bindContextRoutes(api: Api, deps: ContextDeps): void {
  const { contextPacks } = endpoints;
  bindItemRoutes(api, deps);
  api.bind(contextPacks.buildRunV1, (input, { principal }) => buildRunPack(deps, principal, input));
  api.bind(contextPacks.resolveRunV1, (input, { signal }) => resolveRunPack(deps, input, signal));
}

function bindItemRoutes(api: Api, deps: ContextDeps): void {
  const { contextItems } = endpoints;
  const { database } = deps;
  api.bind(contextItems.upsert, (input, { principal }) =>
    upsertContextItem(deps, principal, input),
  );
  api.bind(contextItems.get, async ({ workspaceId, itemId }) => ({
    item: presentItem(await requireItem(database.reader, workspaceId, itemId)),
  }));
  api.bind(contextItems.remove, async (input, { principal }) => {
    await removeContextItem(deps, principal, input);
    return { removed: true as const };
  });
  api.bind(contextItems.list, async (input) => {
    const { limit } = input;
    const before = placeOf(decodeCursor(input.cursor, 'contextItem'));
    const rows = await listItemHeads(database.reader, input, { limit, before });
    const { items, nextCursor } = pageOf(rows, limit, keyOf);
    return { items: items.map((row) => presentSummary(row)), nextCursor };
  });
  api.bind(contextItems.search, async (input) => {
    const offset = offsetOf(decodeCursor(input.cursor, 'contextItem'));
    const { items, hasMore } = await searchItems(database, input, { ...input, offset });
    const next = offset + input.limit;
    return { items, nextCursor: hasMore ? encodeCursor(`ctx_search:${next}`) : null };
  });
}

/** The list is ordered by time and id, so its cursor has both. */
function keyOf(row: ContextItemHead): string {
  return `${row.item_id}:${row.occurred_at}`;
}

function placeOf(key: string | null): ItemPlace | null {
  if (key === null) return null;
  const [, itemId, time] = /^(ctx_[0-9a-v]{20,}):(-?\d{1,15})$/.exec(key) ?? [];
  if (itemId === undefined || time === undefined) throw notOfThisList();
  return { itemId, occurredAtMs: Number(time) };
}

/** Matches have no stable order, so the cursor of a search is an offset. */
function offsetOf(key: string | null): number {
  if (key === null) return 0;
  const [, digits] = /^ctx_search:(\d{1,4})$/.exec(key) ?? [];
  if (digits === undefined || Number(digits) > MATCHES_MAX) throw notOfThisList();
  return Number(digits);
}

function notOfThisList(): Error {
  return invalidField('/cursor', 'must be a nextCursor of this list');
}
