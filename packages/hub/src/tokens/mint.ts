import {
  type consoleEndpoints,
  scopes as knownScopes,
  type RequestInput,
  type Scope,
  TOKEN_LIFE_MS_MAX,
  TOKEN_LIFE_MS_MIN,
} from '@signalbox/contract';
import { requireAct } from '../access/require-act.ts';
import { appendAudit } from '../audit/append.ts';
import { assert, HubError, invalidField } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { readPersonNames } from '../people/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { readWorkspace } from '../workspaces/store.ts';
import type { TokenWithNames } from './list.ts';
import { SERVICE_TOKEN_MS, serviceScopesDefault } from './policy.ts';
import { drawToken, hashToken, insertToken, readToken } from './store.ts';

type MintInput = RequestInput<typeof consoleEndpoints.serviceTokens.mint.request>;

export interface ServiceTokenDraft {
  workspaceId: string;
  /** Names the principal: tokens with the same name belong to the same principal. */
  name: string;
  scopes?: readonly Scope[] | undefined;
  expiresInMs?: number | undefined;
  /** A person's id, or `operator`. */
  createdBy: string;
}

export interface MintedToken {
  /** Shown once; the hub stores only its hash. */
  token: string;
  tokenId: string;
  principalId: string;
  scopes: readonly Scope[];
  expiresAtMs: number;
}

/** The name is part of `service:<name>`, which the schema limits to 100 characters. */
const namePattern = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,79}$/u;

/**
 * Mints a service token, on behalf of a member at the console.
 *
 * @returns the token, shown once, and its row.
 * @throws HubError NOT_ALLOWED, INVALID_REQUEST
 */
export function mintTokenByPerson(
  deps: Pick<HubDeps, 'database' | 'ids'>,
  principal: Principal,
  { workspaceId, name, scopes, expiresInMs }: MintInput,
): Promise<{ token: string; row: TokenWithNames }> {
  return deps.database.write(workspaceId, async (tx) => {
    const { personId } = await requireAct(tx, principal, workspaceId, 'service-token.manage');
    const draft = { workspaceId, name, scopes, expiresInMs, createdBy: personId };
    const { token, tokenId } = await mintServiceToken(deps, tx, draft);
    const row = await readToken(tx, workspaceId, tokenId);
    assert(row !== undefined, 'the token was inserted above');
    const creator = (await readPersonNames(tx, [personId])).get(personId);
    return { token, row: { ...row, person_name: null, creator_name: creator?.name ?? null } };
  });
}

/**
 * Mints a token for a service principal.
 *
 * @throws HubError WORKSPACE_NOT_FOUND, INVALID_REQUEST
 */
export async function mintServiceToken(
  { ids }: Pick<HubDeps, 'ids'>,
  tx: Tx,
  draft: ServiceTokenDraft,
): Promise<MintedToken> {
  const { workspaceId, name, createdBy } = draft;
  const { scopes: wanted = serviceScopesDefault, expiresInMs = SERVICE_TOKEN_MS } = draft;
  checkDraft(name, wanted, expiresInMs);
  if ((await readWorkspace(tx, workspaceId)) === undefined) {
    throw new HubError('WORKSPACE_NOT_FOUND');
  }
  const token = drawToken('service');
  const minted: MintedToken = {
    token,
    tokenId: ids('token'),
    principalId: `service:${name}`,
    scopes: knownScopes.filter((scope) => wanted.includes(scope)),
    expiresAtMs: tx.nowMs + expiresInMs,
  };
  await insertToken(tx, {
    workspaceId,
    tokenId: minted.tokenId,
    tokenHash: hashToken(token),
    kind: 'service',
    principalId: minted.principalId,
    personId: null,
    name,
    scopes: minted.scopes,
    expiresAtMs: minted.expiresAtMs,
    createdBy,
  });
  await appendAudit(tx, {
    workspaceId,
    actor: createdBy,
    action: 'token.mint',
    subject: minted.tokenId,
    data: { kind: 'service', name, scopes: minted.scopes },
  });
  return minted;
}

function checkDraft(name: string, scopes: readonly string[], expiresInMs: number): void {
  if (!namePattern.test(name)) {
    throw invalidField('/name', 'must be 1 to 80 letters, digits, spaces and . _ @ -');
  }
  const unknown = scopes.find((scope) => !knownScopes.some((known) => known === scope));
  if (unknown !== undefined || scopes.length === 0) {
    throw invalidField('/scopes', `must be one or more of ${knownScopes.join(', ')}`);
  }
  if (!(expiresInMs >= TOKEN_LIFE_MS_MIN && expiresInMs <= TOKEN_LIFE_MS_MAX)) {
    throw invalidField('/expiresInMs', 'must be between one minute and ten years');
  }
}
