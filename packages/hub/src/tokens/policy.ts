import type { Scope } from '@signalbox/contract';
import type { Role } from '../db/schema/tables.ts';
import type { TokenRow } from './store.ts';

/** A device token lives this long after its last use. */
export const DEVICE_TOKEN_MS = 90 * 24 * 60 * 60 * 1_000;
/** How long a service principal's token lives unless its maker says otherwise. */
export const SERVICE_TOKEN_MS = 365 * 24 * 60 * 60 * 1_000;
/** Sliding is coarse: a token in daily use is written once a day. */
const SLIDE_STEP_MS = 24 * 60 * 60 * 1_000;
/** How exact `lastUsedAt` is. */
const LAST_USED_STEP_MS = 60 * 1_000;

export const allScopes: readonly Scope[] = ['agent', 'enqueue', 'read', 'decide', 'integrate'];
/** A program does not answer in a person's place unless it was made for that. */
export const serviceScopesDefault: readonly Scope[] = ['agent', 'enqueue', 'read', 'integrate'];
/** What the tool that runs one job may ask for; each call also checks that it is its own job. */
export const jobScopes: readonly Scope[] = ['agent', 'read'];

const scopesByRole: Record<Role, readonly Scope[]> = {
  owner: allScopes,
  admin: allScopes,
  member: allScopes,
  viewer: ['read'],
};

/** What a person may use in a workspace, at the console and from her machines alike. */
export function scopesOfRole(role: Role): readonly Scope[] {
  return scopesByRole[role];
}

/** Why a token is worth nothing any more; null while it lives. */
export function judgeToken(
  token: Pick<TokenRow, 'revoked_at' | 'expires_at'>,
  nowMs: number,
): 'TOKEN_REVOKED' | 'TOKEN_EXPIRED' | null {
  if (token.revoked_at !== null) return 'TOKEN_REVOKED';
  return token.expires_at <= nowMs ? 'TOKEN_EXPIRED' : null;
}

/** What a use of the token changes in its row; null when that was written lately. */
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
