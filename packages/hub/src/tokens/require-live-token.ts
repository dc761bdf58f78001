import type { Scope } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { principalOfToken } from './authenticate-bearer.ts';
import { readTokenById } from './store-bearers.ts';

/**
 * Checks, within the transaction of a call that may have waited, that the caller's token still
 * gives a scope. Principals without a row of a token pass.
 *
 * @throws HubError TOKEN_INVALID, TOKEN_REVOKED, TOKEN_EXPIRED, NOT_ALLOWED
 */
export async function requireLiveToken(
  tx: Tx,
  { kind, workspaceId, tokenId }: Principal,
  scope: Scope,
): Promise<void> {
  if ((kind !== 'device' && kind !== 'service') || workspaceId === null) return;
  const row = await readTokenById(tx, workspaceId, tokenId);
  if (row === undefined) throw new HubError('TOKEN_INVALID');
  if (!principalOfToken(row, tx.nowMs).scopes.has(scope)) {
    throw new HubError('NOT_ALLOWED', `The token no longer has the scope ${scope}.`);
  }
}
