import type { Scope } from '@signalbox/contract';
import type { TokenRow } from './store.ts';

/** A device token expires this long after its last use. */
export const DEVICE_TOKEN_MS = 90 * 24 * 60 * 60 * 1_000;
/** The default lifetime of a service token. */
export const SERVICE_TOKEN_MS = 365 * 24 * 60 * 60 * 1_000;
/** How much a use must extend the expiry before it is written: at most one write a day. */
const SLIDE_STEP_MS = 24 * 60 * 60 * 1_000;
/** The precision of `lastUsedAt`, so that not every request writes. */
const LAST_USED_STEP_MS = 60 * 1_000;

/** Without `decide`: a program answers decision requests only if it was created for that. */
export const serviceScopesDefault: readonly Scope[] = ['agent', 'enqueue', 'read', 'integrate'];
/** The scopes of the tool that runs one job. Each call also checks that it names its own job. */
export const jobScopes: readonly Scope[] = ['agent', 'read'];

/** Why a token is no longer valid; null while it is. */
export function judgeToken(
  token: Pick<TokenRow, 'revoked_at' | 'expires_at'>,
  nowMs: number,
): 'TOKEN_REVOKED' | 'TOKEN_EXPIRED' | null {
  if (token.revoked_at !== null) return 'TOKEN_REVOKED';
  return token.expires_at <= nowMs ? 'TOKEN_EXPIRED' : null;
}

/** The changes to a token's row after a use; null if a recent use wrote them already. */
export function judgeUse(
  token: Pick<TokenRow, 'kind' | 'expires_at' | 'last_used_at'>,
  nowMs: number,
): { lastUsedAtMs: number; expiresAtMs: number } | null {
  const slidTo = nowMs + DEVICE_TOKEN_MS;
  const slides = token.kind === 'device' && slidTo - token.expires_at >= SLIDE_STEP_MS;
  const isNoted = token.last_used_at !== null && nowMs - token.last_used_at < LAST_USED_STEP_MS;
  if (isNoted && !slides) return null;
  return { lastUsedAtMs: nowMs, expiresAtMs: slides ? slidTo : token.expires_at };
}
