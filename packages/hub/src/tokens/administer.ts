import { ADMINISTRATION_MS } from '@signalbox/contract';
import { isRecent } from '../base/clock.ts';
import { assert, HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { actFor, actingCaller } from '../db/acting-caller.ts';
import type { Reader, Tx } from '../db/engine.ts';
import { principalOfToken } from './authenticate-bearer.ts';
import { readTokenById } from './store-bearers.ts';

/**
 * Runs a change of members or tokens. For a machine, each of its actions first checks that the
 * machine's token is live and that a person approved it recently: coding tools on the machine may
 * read the token, and a token of weeks must not be enough to create further access.
 */
export function administer<T>(principal: Principal, run: () => T): T {
  // A session of the console has a guard of its own.
  if (principal.kind !== 'device') return run();
  const caller = actingCaller();
  assert(caller !== undefined, 'a request has a caller');
  const guard = (tx: Tx) => requireRecentLogin(tx, principal, tx.nowMs);
  return actFor({ ...caller, guard }, run);
}

/** @throws HubError TOKEN_INVALID, TOKEN_REVOKED, TOKEN_EXPIRED, LOGIN_TOO_OLD */
async function requireRecentLogin(
  reader: Reader,
  { workspaceId, tokenId }: Principal,
  nowMs: number,
): Promise<void> {
  const row = await readTokenById(reader, workspaceId ?? '', tokenId);
  if (row === undefined) throw new HubError('TOKEN_INVALID');
  principalOfToken(row, nowMs);
  if (!isRecent(row.created_at, nowMs, ADMINISTRATION_MS)) throw new HubError('LOGIN_TOO_OLD');
}
