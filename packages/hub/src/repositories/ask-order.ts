import type { AskOrder } from '@signalbox/contract';
import { readRole } from '../access/store.ts';
import { HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { RepositoryRow } from './store.ts';

/** Who is told of the questions of a repository or a run; null: neither says so. */
export function askOrderOf({ ask_order: text }: Pick<RepositoryRow, 'ask_order'>): AskOrder | null {
  // Written by `checkAskOrder`.
  return text === null ? null : (JSON.parse(text) as AskOrder);
}

/**
 * The stored form of an order that a request contains.
 *
 * @throws HubError NOT_ALLOWED for programs, INVALID_REQUEST
 */
export async function checkAskOrder(
  tx: Tx,
  principal: Principal,
  workspaceId: string,
  order: AskOrder | null,
): Promise<string | null> {
  if (principal.personId === null) {
    throw new HubError('NOT_ALLOWED', 'Only people say who is told of questions.');
  }
  if (order === null) return null;
  const { personIds, minutes } = order;
  for (const [at, personId] of personIds.entries()) {
    const path = `/askOrder/personIds/${at}`;
    if (personIds.indexOf(personId) < at) throw invalidField(path, 'must be in the list once');
    const isMember = personId === null || (await readRole(tx, personId, workspaceId)) !== null;
    if (!isMember) throw invalidField(path, 'must be a member of the workspace');
  }
  return JSON.stringify({ personIds, minutes });
}
