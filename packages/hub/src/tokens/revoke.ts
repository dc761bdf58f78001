import type { consoleEndpoints, IdSource, RequestInput } from '@signalbox/contract';
import { mayAct } from '../access/policy.ts';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import type { Database, Tx } from '../db/engine.ts';
import { assert, HubError } from '../errors.ts';
import type { Principal } from '../principal.ts';
import type { TokenCache } from './cache.ts';
import { mintServiceToken } from './mint.ts';
import {
  listTokens,
  markTokenRevoked,
  readToken,
  type TokenRow,
  type TokenWithNames,
} from './store.ts';

/*
 * What people do at the console about the tokens of a workspace. Nothing of it is open to a bearer:
 * no token makes or ends another.
 */

export interface AccessDeps {
  database: Database;
  ids: IdSource;
  tokenCache: TokenCache;
}

type MintInput = RequestInput<typeof consoleEndpoints.serviceTokens.mint.request>;
type ServiceListInput = RequestInput<typeof consoleEndpoints.serviceTokens.list.request>;
type DeviceListInput = RequestInput<typeof consoleEndpoints.deviceTokens.list.request>;

interface TokenRef {
  workspaceId: string;
  tokenId: string;
}

/** @throws HubError NOT_ALLOWED */
export async function listServiceTokens(
  { database: { reader } }: Pick<AccessDeps, 'database'>,
  principal: Principal,
  { workspaceId, limit }: ServiceListInput,
  before: string | null,
): Promise<TokenWithNames[]> {
  await requireAct(reader, principal, workspaceId, 'service-token.manage');
  return listTokens(reader, workspaceId, { kind: 'service', personId: null }, { limit, before });
}

/**
 * Mints a token for a service principal.
 *
 * @returns the token, shown once, and its row.
 * @throws HubError NOT_ALLOWED, INVALID_REQUEST
 */
export function mintTokenByPerson(
  { database, ids }: AccessDeps,
  principal: Principal,
  input: MintInput,
): Promise<{ token: string; row: TokenWithNames }> {
  const { workspaceId, name, scopes, expiresInMs } = input;
  return database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'service-token.manage');
    const { token, tokenId } = await mintServiceToken({ database, ids }, tx, {
      workspaceId,
      name,
      createdBy: personId,
      ...(scopes === undefined ? {} : { scopes }),
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
    });
    const row = await readToken(tx, workspaceId, tokenId);
    assert(row !== undefined, 'it was minted just now');
    return { token, row };
  });
}

/** @throws HubError NOT_ALLOWED, TOKEN_NOT_FOUND */
export function revokeServiceToken(
  deps: AccessDeps,
  principal: Principal,
  ref: TokenRef,
): Promise<void> {
  return deps.database.write(ref.workspaceId, async (tx) => {
    const { workspaceId } = ref;
    const { personId } = await requireAct(tx, principal, workspaceId, 'service-token.manage');
    await endToken(deps, tx, await requireToken(tx, ref, 'service'), personId);
  });
}

/** @throws HubError NOT_ALLOWED for those of everybody. */
export async function listDeviceTokens(
  { database: { reader } }: Pick<AccessDeps, 'database'>,
  principal: Principal,
  { workspaceId, of, limit }: DeviceListInput,
  before: string | null,
): Promise<TokenWithNames[]> {
  const act = of === 'me' ? 'device-token.manage-own' : 'device-token.manage-all';
  const { personId } = await requireAct(reader, principal, workspaceId, act);
  const filter = { kind: 'device' as const, personId: of === 'me' ? personId : null };
  return listTokens(reader, workspaceId, filter, { limit, before });
}

/** @throws HubError TOKEN_NOT_FOUND, for another's as for none. */
export function revokeDeviceToken(
  deps: AccessDeps,
  principal: Principal,
  ref: TokenRef,
): Promise<void> {
  return deps.database.write(ref.workspaceId, async (tx) => {
    const { workspaceId } = ref;
    const actor = await requireAct(tx, principal, workspaceId, 'device-token.manage-own');
    const token = await requireToken(tx, ref, 'device');
    if (token.person_id !== actor.personId && !mayAct(actor.role, 'device-token.manage-all')) {
      throw new HubError('TOKEN_NOT_FOUND');
    }
    await endToken(deps, tx, token, actor.personId);
  });
}

async function requireToken(
  tx: Tx,
  { workspaceId, tokenId }: TokenRef,
  kind: TokenRow['kind'],
): Promise<TokenWithNames> {
  const token = await readToken(tx, workspaceId, tokenId);
  if (token === undefined || token.kind !== kind) throw new HubError('TOKEN_NOT_FOUND');
  return token;
}

async function endToken(
  { tokenCache }: AccessDeps,
  tx: Tx,
  { workspace_id, token_id, kind, name, person_id }: TokenRow,
  actor: string,
): Promise<void> {
  await markTokenRevoked(tx, workspace_id, token_id);
  await appendAudit(tx, {
    workspaceId: workspace_id,
    actor,
    action: 'token.revoke',
    subject: token_id,
    data: { kind, name, personId: person_id },
  });
  tx.afterCommit(() => tokenCache.clear());
}
