import type { AnswerOf, endpoints, RequestInput } from '@signalbox/contract';
import { readTimestamp } from '../base/clock.ts';
import { invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { HookDeps } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { addContextItem, type ContextItemDraft } from './add-item.ts';
import { prepareText } from './prepare-text.ts';
import { presentItem } from './present.ts';

type UpsertInput = RequestInput<typeof endpoints.contextItems.upsert.request>;

/** Adds or replaces an item for a client, once per idempotency key. */
export async function upsertContextItem(
  deps: HookDeps & Pick<HubDeps, 'database' | 'sideThread'>,
  principal: Principal,
  input: UpsertInput,
): Promise<AnswerOf<typeof endpoints.contextItems.upsert>> {
  const draft = draftOf(principal, input);
  const preparedText = await prepareText(deps, input.workspaceId, input.text);
  return deps.database.write(input.workspaceId, (tx) =>
    answerOnce(tx, { operation: 'contextItemsUpsert', principal, input }, async () => {
      const { item, created } = await addContextItem(tx, deps, { ...draft, preparedText });
      return { itemId: item.item_id, item: presentItem(item), created };
    }),
  );
}

function draftOf(principal: Principal, input: UpsertInput): ContextItemDraft {
  const { occurredAt, validFrom, validTo, ...same } = input;
  const validFromMs = timeOf('/validFrom', validFrom);
  const validToMs = timeOf('/validTo', validTo);
  if (validFromMs !== undefined && validToMs !== undefined && validToMs <= validFromMs) {
    throw invalidField('/validTo', 'must be later than validFrom');
  }
  return {
    ...same,
    occurredAtMs: timeOf('/occurredAt', occurredAt),
    validFromMs,
    validToMs,
    createdBy: principal.principalId,
  };
}

function timeOf(path: string, timestamp: string | undefined): number | undefined {
  return timestamp === undefined ? undefined : readTimestamp(path, timestamp);
}
