import { hash, timingSafeEqual } from 'node:crypto';
import type { Scope } from '@signalbox/contract';
import { readRole } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import { deriveKey, openText, sealText } from '../base/sealing.ts';
import type { Tx } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import type { TokenCache } from '../tokens/cache.ts';
import { revokeToken } from '../tokens/revoke.ts';
import { drawToken, hashToken, insertToken, readToken, renewToken } from '../tokens/store.ts';
import { resourceOf } from './metadata.ts';
import { OauthError } from './oauth-error.ts';
import { ACCESS_MS, assistantScopesOf, FORGIVING_MS, REFRESH_MS } from './policy.ts';
import type { SecretRow } from './store.ts';
import { hashSecret, insertSecret, markSecretUsed, readSecret } from './store.ts';

export interface ExchangeDeps extends Pick<HubDeps, 'database'> {
  tokenCache: TokenCache;
  baseUrl: string;
}

/** The fields of a form. */
export type Form = Readonly<Record<string, string>>;

/** The tokens that a client keeps. */
interface TokenPair {
  accessToken: string;
  refreshToken: string;
  scopes: Scope[];
  /** When the access token ends. */
  expiresAtMs: number;
}

/** How an exchange ends. A refusal is returned, so that what ended with it is written. */
type Ending = { pair: TokenPair; nowMs: number } | { refusal: OauthError };

const PURPOSE = 'signalbox refresh token';

/**
 * Gives a client its tokens for a code or a refresh token (RFC 6749, sections 4.1.3 and 6).
 *
 * @returns the answer (section 5.1).
 * @throws OauthError
 */
export async function exchangeToken(deps: ExchangeDeps, form: Form): Promise<object> {
  const { grant_type: grantType, resource } = form;
  // RFC 8707, section 2.2. It was named when the person was asked, so it may be left out here.
  if (resource !== undefined && resource !== resourceOf(deps.baseUrl)) {
    throw new OauthError('invalid_target', `The resource must be ${resourceOf(deps.baseUrl)}.`);
  }
  if (grantType === 'authorization_code') {
    return exchange(deps, 'code', required(form, 'code'), (tx, row) =>
      exchangeCode(deps, tx, row, form),
    );
  }
  if (grantType === 'refresh_token') {
    const refreshToken = required(form, 'refresh_token');
    return exchange(deps, 'refresh', refreshToken, (tx, row) =>
      refresh(deps, tx, row, form, refreshToken),
    );
  }
  throw new OauthError('unsupported_grant_type', 'Use authorization_code or refresh_token.');
}

async function exchange(
  { database }: ExchangeDeps,
  kind: SecretRow['kind'],
  secret: string,
  act: (tx: Tx, row: SecretRow) => Promise<Ending>,
): Promise<object> {
  const secretHash = hashSecret(secret);
  const found = await readSecret(database.reader, secretHash);
  if (found === undefined || found.kind !== kind) throw unknown();
  // One at a time in a workspace, so that of concurrent exchanges one issues tokens.
  const ending = await database.write(found.workspace_id, async (tx) => {
    const row = await readSecret(tx, secretHash);
    return row === undefined ? { refusal: unknown() } : act(tx, row);
  });
  if ('refusal' in ending) throw ending.refusal;
  const { pair, nowMs } = ending;
  return {
    access_token: pair.accessToken,
    token_type: 'Bearer',
    expires_in: Math.max(1, Math.floor((pair.expiresAtMs - nowMs) / 1_000)),
    refresh_token: pair.refreshToken,
    scope: assistantScopesOf(pair.scopes).join(' '),
  };
}

async function exchangeCode(
  deps: ExchangeDeps,
  tx: Tx,
  row: SecretRow,
  form: Form,
): Promise<Ending> {
  // Somebody else has the code too: what it gave ends (RFC 6749, section 4.1.2).
  if (row.used_at !== null) return endLogin(deps, tx, row, 'code-reuse');
  if (row.expires_at <= tx.nowMs) return { refusal: unknown() };
  if (form.client_id !== row.client_id || form.redirect_uri !== row.redirect_uri) {
    return { refusal: invalidGrant('The code is of another client or redirect_uri.') };
  }
  if (!provesChallenge(form.code_verifier ?? '', row.code_challenge ?? '')) {
    return { refusal: invalidGrant('The code_verifier does not fit.') };
  }
  const { workspace_id: workspaceId, token_id: tokenId, person_id: personId } = row;
  // They may have left since they were asked.
  if ((await readRole(tx, personId, workspaceId)) === null) return { refusal: unknown() };
  await markSecretUsed(tx, row, null);
  const { pair, renewableUntilMs } = await issuePair(tx, row);
  await insertToken(tx, {
    workspaceId,
    tokenId,
    tokenHash: hashToken(pair.accessToken),
    kind: 'assistant',
    principalId: personId,
    personId,
    name: row.client_name,
    scopes: pair.scopes,
    expiresAtMs: pair.expiresAtMs,
    createdBy: personId,
    renewableUntilMs,
  });
  await appendAudit(tx, {
    workspaceId,
    actor: personId,
    action: 'token.mint',
    subject: tokenId,
    data: { kind: 'assistant', name: row.client_name, scopes: pair.scopes },
  });
  return { pair, nowMs: tx.nowMs };
}

/** RFC 7636, section 4.6. */
function provesChallenge(verifier: string, challenge: string): boolean {
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return false;
  const actual = Buffer.from(hash('sha256', verifier, 'base64url'));
  const expected = Buffer.from(challenge);
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

async function refresh(
  deps: ExchangeDeps,
  tx: Tx,
  row: SecretRow,
  form: Form,
  refreshToken: string,
): Promise<Ending> {
  if (form.client_id !== row.client_id) {
    return { refusal: invalidGrant('The refresh token is of another client.') };
  }
  if (form.scope !== undefined && !covers(row, form.scope)) {
    return { refusal: new OauthError('invalid_scope', 'More was asked for than was allowed.') };
  }
  const { workspace_id: workspaceId, token_id: tokenId } = row;
  if ((await readToken(tx, workspaceId, tokenId)) === undefined) return { refusal: unknown() };
  if (row.used_at !== null && row.sealed_tokens !== null) {
    // Processes of a client share a refresh token, and an answer may be lost.
    if (tx.nowMs - row.used_at > FORGIVING_MS) return endLogin(deps, tx, row, 'refresh-reuse');
    const text = openText(row.sealed_tokens, keyOf(row, refreshToken), row.secret_hash);
    // It was sealed below.
    return { pair: JSON.parse(text) as TokenPair, nowMs: tx.nowMs };
  }
  if (row.expires_at <= tx.nowMs) return { refusal: unknown() };
  const { pair, renewableUntilMs } = await issuePair(tx, row);
  const sealed = sealText(JSON.stringify(pair), keyOf(row, refreshToken), row.secret_hash);
  await markSecretUsed(tx, row, sealed);
  await renewToken(
    tx,
    { workspaceId, tokenId },
    {
      tokenHash: hashToken(pair.accessToken),
      expiresAtMs: pair.expiresAtMs,
      renewableUntilMs,
    },
  );
  tx.afterCommit(() => deps.tokenCache.clear());
  return { pair, nowMs: tx.nowMs };
}

function covers(row: SecretRow, scope: string): boolean {
  const allowed: readonly string[] = assistantScopesOf(scopesOf(row));
  return scope.split(' ').every((name) => allowed.includes(name));
}

function scopesOf(row: SecretRow): Scope[] {
  // The consent wrote it.
  return JSON.parse(row.scopes) as Scope[];
}

function keyOf(row: SecretRow, refreshToken: string): Buffer {
  return deriveKey(refreshToken, row.secret_hash, PURPOSE);
}

/** Makes the tokens that follow a secret, and writes the refresh token. */
async function issuePair(
  tx: Tx,
  row: SecretRow,
): Promise<{ pair: TokenPair; renewableUntilMs: number }> {
  const pair = {
    accessToken: drawToken('assistant'),
    refreshToken: drawToken('refresh'),
    scopes: scopesOf(row),
    expiresAtMs: tx.nowMs + ACCESS_MS,
  };
  const renewableUntilMs = tx.nowMs + REFRESH_MS;
  const { created_at: _created, used_at: _used, ...rest } = row;
  insertSecret(tx, {
    ...rest,
    secret_hash: hashSecret(pair.refreshToken),
    kind: 'refresh',
    redirect_uri: null,
    code_challenge: null,
    expires_at: renewableUntilMs,
    sealed_tokens: null,
  });
  return { pair, renewableUntilMs };
}

/** Ends a login of which a used secret was sent again: two hold it, and one of them stole it. */
async function endLogin(
  { tokenCache }: ExchangeDeps,
  tx: Tx,
  { workspace_id, token_id, person_id }: SecretRow,
  cause: 'code-reuse' | 'refresh-reuse',
): Promise<Ending> {
  const token = await readToken(tx, workspace_id, token_id);
  if (token !== undefined) {
    await revokeToken(tx, token, person_id, cause);
    tx.afterCommit(() => tokenCache.clear());
  }
  return { refusal: invalidGrant('It was used before, so the login has ended: log in again.') };
}

/**
 * Revokes the login of a token, by the request of its client (RFC 7009). A token that is not known
 * is no error (section 2.2).
 */
export async function revokeByToken(deps: ExchangeDeps, form: Form): Promise<object> {
  const secret = required(form, 'token');
  const { database, tokenCache } = deps;
  const login =
    (await readSecret(database.reader, hashSecret(secret))) ??
    (await tokenCache.find(hashToken(secret)))?.row;
  if (login === undefined) return {};
  await database.write(login.workspace_id, async (tx) => {
    const token = await readToken(tx, login.workspace_id, login.token_id);
    if (token?.kind !== 'assistant') return;
    await revokeToken(tx, token, token.principal_id);
    tx.afterCommit(() => tokenCache.clear());
  });
  return {};
}

function required(form: Form, name: string): string {
  const value = form[name];
  if (value !== undefined && value !== '') return value;
  throw new OauthError('invalid_request', `${name} is missing.`);
}

function unknown(): OauthError {
  return invalidGrant('It is not known, or has ended: log in again.');
}

function invalidGrant(message: string): OauthError {
  return new OauthError('invalid_grant', message);
}
