import type { consoleEndpoints, RequestInput } from '@signalbox/contract';
import { mayAct } from '../access/policy.ts';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import { assert, HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import type { HookDeps } from '../start/hooks.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { TokenCache } from './cache.ts';
import {
  listServiceTokensBy,
  listTokensOfPerson,
  markTokenRevoked,
  readToken,
  type TokenRow,
} from './store.ts';

export interface TokenDeps extends Pick<HubDeps, 'database' | 'ids'> {
  tokenCache: TokenCache;
}

type TokenRef = RequestInput<typeof consoleEndpoints.serviceTokens.revoke.request>;

/**
 * Revokes a service token, on behalf of a member at the console.
 * @throws HubError NOT_ALLOWED, TOKEN_NOT_FOUND
 */
export function revokeServiceToken(
  deps: TokenDeps,
  principal: Principal,
  ref: TokenRef,
): Promise<void> {
  return deps.database.write(ref.workspaceId, async (tx) => {
    const { workspaceId } = ref;
    const { personId } = await requireAct(tx, principal, workspaceId, 'service-token.manage');
    await endToken(deps, tx, await requireToken(tx, ref, ['service']), personId);
  });
}

/**
 * Revokes the token of a machine or an assistant, on behalf of a member at the console. Only
 * administrators may revoke the tokens of others; for everyone else those do not exist.
 *
 * @throws HubError TOKEN_NOT_FOUND
 */
export function revokeDeviceToken(
  deps: TokenDeps,
  principal: Principal,
  ref: TokenRef,
): Promise<void> {
  return deps.database.write(ref.workspaceId, async (tx) => {
    const { workspaceId } = ref;
    const actor = await requireAct(tx, principal, workspaceId, 'device-token.manage-own');
    const token = await requireToken(tx, ref, ['device', 'assistant']);
    if (token.person_id !== actor.personId && !mayAct(actor.role, 'device-token.manage-all')) {
      throw new HubError('TOKEN_NOT_FOUND');
    }
    await endToken(deps, tx, token, actor.personId);
  });
}

async function requireToken(
  tx: Tx,
  { workspaceId, tokenId }: TokenRef,
  kinds: readonly TokenRow['kind'][],
): Promise<TokenRow> {
  const token = await readToken(tx, workspaceId, tokenId);
  if (token === undefined || !kinds.includes(token.kind)) throw new HubError('TOKEN_NOT_FOUND');
  return token;
}

async function endToken(
  { tokenCache }: TokenDeps,
  tx: Tx,
  token: TokenRow,
  actor: string,
): Promise<void> {
  await revokeToken(tx, token, actor);
  tx.afterCommit(() => tokenCache.clear());
}

/** Revokes a token. The caller clears the token cache. */
export async function revokeToken(
  tx: Tx,
  { workspace_id, token_id, kind, name, person_id }: TokenRow,
  actor: string,
  cause?: string,
): Promise<void> {
  await markTokenRevoked(tx, workspace_id, token_id);
  await appendAudit(tx, {
    workspaceId: workspace_id,
    actor,
    action: 'token.revoke',
    subject: token_id,
    data: { kind, name, personId: person_id, ...(cause === undefined ? {} : { cause }) },
  });
}

/**
 * Revokes the device tokens of a person and the service tokens that they created, in all
 * workspaces, also those that they have left. A function of `onPasswordReset`; the caller clears
 * the token cache.
 */
export async function revokeTokensOfPerson(
  _deps: HookDeps,
  tx: Tx,
  { personId }: { personId: string },
): Promise<void> {
  for (const token of await listTokensOfPerson(tx, personId)) {
    await revokeToken(tx, token, personId, 'password-reset');
  }
}

/** Revokes the device tokens of a person in all workspaces. The `logOutMachines` of the hooks. */
export async function revokeDeviceTokensOfPerson(
  _deps: HookDeps,
  tx: Tx,
  { personId }: { personId: string },
): Promise<number> {
  const tokens = await listTokensOfPerson(tx, personId);
  const machines = tokens.filter((token) => token.person_id === personId);
  for (const token of machines) await revokeToken(tx, token, personId, 'password-change');
  return machines.length;
}

/** A service token of a person who may mint none any more. */
export interface MintedServiceToken {
  tokenId: string;
  name: string;
  revoked: boolean;
}

/**
 * Lists the service tokens that a person minted in a workspace, and revokes them if asked to. The
 * caller clears the token cache.
 */
export async function endServiceTokensOf(
  tx: Tx,
  { workspaceId, personId }: { workspaceId: string; personId: string },
  how: { actor: string; revoke: boolean; cause: string },
): Promise<MintedServiceToken[]> {
  const tokens = await listServiceTokensBy(tx, workspaceId, personId);
  if (how.revoke) {
    for (const token of tokens) await revokeToken(tx, token, how.actor, how.cause);
  }
  return tokens.map(({ token_id, name }) => ({ tokenId: token_id, name, revoked: how.revoke }));
}

/**
 * Revokes the token of the request. This hub refuses it at once, others within a second.
 *
 * @throws HubError NOT_ALLOWED for principals other than devices and service principals.
 */
export async function revokeOwnToken(
  { database, tokenCache }: TokenDeps,
  principal: Principal,
): Promise<void> {
  if (principal.kind !== 'device' && principal.kind !== 'service') {
    throw new HubError('NOT_ALLOWED', reasonsNotToRevoke[principal.kind]);
  }
  const { workspaceId, tokenId, principalId } = principal;
  assert(workspaceId !== null, 'a device or service token belongs to a workspace');
  await database.write(workspaceId, async (tx) => {
    if (!(await markTokenRevoked(tx, workspaceId, tokenId))) return;
    await appendAudit(tx, {
      workspaceId,
      actor: principalId,
      action: 'token.revoke',
      subject: tokenId,
    });
    tx.afterCommit(() => tokenCache.clear());
  });
}

const reasonsNotToRevoke: Record<Exclude<Principal['kind'], 'device' | 'service'>, string> = {
  assistant: 'An assistant revokes its token at /oauth/revoke.',
  job: 'A job token ends with the lease of its job; it cannot be revoked.',
  person: 'Sign out to end a console session.',
  message: 'A message has no token to revoke.',
  global: 'The global token is a setting of the hub: unset SVC_CONTROL_PLANE_TOKEN.',
  development: 'This request has no token to revoke: the hub runs in development mode.',
  anonymous: 'This request has no token to revoke.',
};
