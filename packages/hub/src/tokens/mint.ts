import {
  type IdSource,
  scopes as knownScopes,
  type Scope,
  TOKEN_LIFE_MS_MAX,
  TOKEN_LIFE_MS_MIN,
} from '@signalbox/contract';
import { appendAudit } from '../audit/append.ts';
import type { Database, Tx } from '../db/engine.ts';
import { assert, HubError, invalidField } from '../errors.ts';
import type { Principal } from '../principal.ts';
import { readWorkspace } from '../workspaces/store.ts';
import type { TokenCache } from './cache.ts';
import { SERVICE_TOKEN_MS, serviceScopesDefault } from './policy.ts';
import { drawToken, hashToken, insertToken, markTokenRevoked } from './store.ts';

export interface ServiceTokenDraft {
  workspaceId: string;
  /** Names the principal: a later token of the same name is the same principal. */
  name: string;
  scopes?: readonly Scope[];
  expiresInMs?: number;
  /** Who made it, for the audit log. */
  createdBy: string;
}

export interface MintedToken {
  /** Shown once; only its hash is kept. */
  token: string;
  tokenId: string;
  principalId: string;
  scopes: readonly Scope[];
  expiresAtMs: number;
}

/** The name is part of `service:<name>`, which the schema bounds to 100 characters. */
const namePattern = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,79}$/u;

/**
 * Mints a token for a service principal.
 *
 * @throws HubError WORKSPACE_NOT_FOUND, INVALID_REQUEST
 */
export async function mintServiceToken(
  { database, ids }: { database: Database; ids: IdSource },
  tx: Tx,
  draft: ServiceTokenDraft,
): Promise<MintedToken> {
  const { workspaceId, name, scopes = serviceScopesDefault } = draft;
  const { expiresInMs = SERVICE_TOKEN_MS } = draft;
  checkDraft(name, scopes, expiresInMs);
  if ((await readWorkspace(tx, workspaceId)) === undefined) {
    throw new HubError('WORKSPACE_NOT_FOUND');
  }
  const token = drawToken('service');
  const minted: MintedToken = {
    token,
    tokenId: ids('token'),
    principalId: `service:${name}`,
    scopes: knownScopes.filter((scope) => scopes.includes(scope)),
    expiresAtMs: tx.nowMs + expiresInMs,
  };
  await insertToken(database, tx, {
    workspaceId,
    tokenId: minted.tokenId,
    tokenHash: hashToken(token),
    kind: 'service',
    principalId: minted.principalId,
    personId: null,
    name,
    scopes: minted.scopes,
    expiresAtMs: minted.expiresAtMs,
    createdBy: draft.createdBy,
  });
  await appendAudit(tx, {
    workspaceId,
    actor: draft.createdBy,
    action: 'token.mint',
    subject: minted.tokenId,
    data: { kind: 'service', name, scopes: minted.scopes },
  });
  return minted;
}

function checkDraft(name: string, scopes: readonly string[], expiresInMs: number): void {
  if (!namePattern.test(name)) {
    throw invalidField('/name', 'takes 1 to 80 letters, digits, spaces and . _ @ -');
  }
  const unknown = scopes.find((scope) => !knownScopes.some((known) => known === scope));
  if (unknown !== undefined || scopes.length === 0) {
    throw invalidField('/scopes', `takes one or more of ${knownScopes.join(', ')}`);
  }
  if (!(expiresInMs >= TOKEN_LIFE_MS_MIN && expiresInMs <= TOKEN_LIFE_MS_MAX)) {
    throw invalidField('/expiresInMs', 'lies between a minute and ten years');
  }
}

/**
 * Ends the token of a request. It ends on this hub at once, on others within a second.
 *
 * @throws HubError NOT_ALLOWED for what is no device or service token.
 */
export async function revokeOwnToken(
  { database, tokenCache }: { database: Database; tokenCache: TokenCache },
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
  job: 'A job token ends with the lease of its job; it cannot be revoked.',
  person: 'A console session is ended by signing out.',
  global: 'The global token is a setting of the hub: unset SVC_CONTROL_PLANE_TOKEN.',
  development: 'This request has no token to revoke: the hub runs in development mode.',
  anonymous: 'This request has no token to revoke.',
};
