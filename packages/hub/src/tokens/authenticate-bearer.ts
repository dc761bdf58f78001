import { hash, timingSafeEqual } from 'node:crypto';
import { parseToken, type Scope } from '@signalbox/contract';
import { allScopes, scopesOfRole } from '../access/policy.ts';
import type { Clock } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Database } from '../db/engine.ts';
import type { TokenCache } from './cache.ts';
import { jobScopes, judgeToken, judgeUse } from './policy.ts';
import { hashToken, recordTokenUse } from './store.ts';
import {
  type JobTokenRow,
  readJobTokenByHash,
  readTokenByHash,
  type TokenWithPerson,
} from './store-bearers.ts';

export interface BearerDeps {
  database: Database;
  clock: Clock;
  tokenCache: TokenCache;
  /** `SVC_CONTROL_PLANE_TOKEN`; null when unset. */
  globalToken: string | null;
  /** `SVC_CONTROL_PLANE_ALLOW_GLOBAL_TOKEN`. */
  globalTokenAllowed: boolean;
  /** Logs failures of background work that must not fail the request. */
  log: { error(context: object, message: string): void };
}

/** The schema's limit for display names. */
const NAME_CHARS_MAX = 200;
const headerPattern = /^bearer +(\S+)$/i;

/**
 * Authenticates a request by its `Authorization` header. Verifies the check characters before any
 * database work, so that malformed tokens cost nothing.
 *
 * @throws HubError TOKEN_INVALID, TOKEN_EXPIRED, TOKEN_REVOKED
 */
export async function authenticateBearer(deps: BearerDeps, header: string): Promise<Principal> {
  const token = headerPattern.exec(header.trim())?.[1];
  if (token === undefined) {
    throw new HubError('TOKEN_INVALID', 'Send the header Authorization: Bearer <token>.');
  }
  if (isGlobalToken(deps, token)) return globalPrincipal(deps);
  const parsed = parseToken(token);
  if (parsed === null) {
    throw new HubError(
      'TOKEN_INVALID',
      'The bearer token is malformed: copy the whole token again.',
    );
  }
  const tokenHash = hashToken(token);
  if (parsed.kind === 'job') return authenticateJob(deps, tokenHash);
  const known = deps.tokenCache.peek(tokenHash) ?? (await deps.tokenCache.find(tokenHash));
  let row = known?.row;
  // Another hub may have extended the expiry since this row was cached.
  if (row !== undefined && judgeToken(row, deps.clock.nowMs()) === 'TOKEN_EXPIRED') {
    row = await readTokenByHash(deps.database.reader, tokenHash);
  }
  if (row === undefined || row.kind !== parsed.kind) throw new HubError('TOKEN_INVALID');
  refuseEnded(row, deps.clock.nowMs());
  const isChanged = recordUse(deps, row);
  if (known?.row !== row) return principalOf(row);
  if (isChanged) known.principal = null;
  known.principal ??= principalOf(row);
  return known.principal;
}

/**
 * The principal of a token as it is now.
 * @throws HubError TOKEN_EXPIRED, TOKEN_REVOKED
 */
export function principalOfToken(row: TokenWithPerson, nowMs: number): Principal {
  refuseEnded(row, nowMs);
  return principalOf(row);
}

/** @throws HubError TOKEN_EXPIRED, TOKEN_REVOKED */
function refuseEnded(row: TokenWithPerson, nowMs: number): void {
  const ended = judgeToken(row, nowMs);
  if (ended === 'TOKEN_EXPIRED') {
    throw new HubError(ended, 'The bearer token has expired: log in again, or mint a new one.');
  }
  if (ended !== null) throw new HubError(ended);
}

function principalOf(row: TokenWithPerson): Principal {
  return {
    kind: row.kind,
    principalId: row.principal_id,
    displayName: nameOf(row),
    workspaceId: row.workspace_id,
    scopes: scopesOf(row),
    tokenId: row.token_id,
    personId: row.person_id,
    sessionId: null,
    job: null,
    expiresAtMs: row.expires_at,
  };
}

/**
 * A device has the scopes of its person's current role, an assistant those among them that it was
 * given, a service principal all that it was given.
 */
function scopesOf(row: TokenWithPerson): ReadonlySet<Scope> {
  // insertToken writes only known scopes.
  const given = new Set(JSON.parse(row.scopes) as Scope[]);
  if (row.kind === 'service') return given;
  if (row.role === null) {
    throw new HubError('TOKEN_REVOKED', 'The person no longer belongs to this workspace.');
  }
  const ofRole = new Set(scopesOfRole(row.role));
  return row.kind === 'device' ? ofRole : ofRole.intersection(given);
}

function nameOf(row: TokenWithPerson): string {
  const parts = row.kind === 'service' ? [row.name] : [row.person_name, row.name];
  const name = parts.filter(Boolean).join(row.kind === 'device' ? ' on ' : ' by ');
  // The cut may split a surrogate pair, which is not valid Unicode.
  return name.slice(0, NAME_CHARS_MAX).toWellFormed();
}

async function authenticateJob(deps: BearerDeps, tokenHash: string): Promise<Principal> {
  const row = await readJobTokenByHash(deps.database.reader, tokenHash);
  return principalOfJob(row, deps.clock.nowMs());
}

/**
 * The principal of a job token, as long as its lease lasts and the agent that holds the lease has
 * access itself.
 *
 * @param row undefined when no attempt with this token is running.
 * @throws HubError TOKEN_EXPIRED, TOKEN_REVOKED
 */
export function principalOfJob(row: JobTokenRow | undefined, nowMs: number): Principal {
  // The statements find running attempts only, so a well-formed unknown token has ended.
  if (
    row === undefined ||
    row.agent_id === null ||
    row.lease_expires_at === null ||
    row.lease_expires_at <= nowMs
  ) {
    throw new HubError(
      'TOKEN_EXPIRED',
      'The lease of the job that this token was issued for has ended.',
    );
  }
  if (!maySupply(row, nowMs)) {
    throw new HubError(
      'TOKEN_REVOKED',
      'The token of the agent that holds this job was revoked or has expired: stop this attempt.',
    );
  }
  return {
    kind: 'job',
    principalId: `job:${row.entry_id}`,
    displayName: `The tool of job ${row.entry_id}`,
    workspaceId: row.workspace_id,
    scopes: new Set(jobScopes),
    tokenId: 'job',
    personId: null,
    sessionId: null,
    job: {
      jobId: row.entry_id,
      runId: row.run_id,
      agentId: row.agent_id,
      tokenHash: row.token_hash,
    },
    expiresAtMs: row.lease_expires_at,
  };
}

/** Whether the agent that holds a job may still run jobs. One without a token always may. */
function maySupply({ kind, expires_at, revoked_at, role }: JobTokenRow, nowMs: number): boolean {
  if (kind === null || expires_at === null) return true;
  if (judgeToken({ expires_at, revoked_at }, nowMs) !== null) return false;
  return kind === 'service' || (role !== null && scopesOfRole(role).includes('agent'));
}

function isGlobalToken({ globalToken }: BearerDeps, token: string): boolean {
  if (globalToken === null || globalToken === '') return false;
  // Hash both: timingSafeEqual needs equal lengths, and the time must not reveal the length.
  return timingSafeEqual(hash('sha256', token, 'buffer'), hash('sha256', globalToken, 'buffer'));
}

function globalPrincipal({ globalTokenAllowed }: BearerDeps): Principal {
  if (!globalTokenAllowed) {
    throw new HubError(
      'TOKEN_INVALID',
      'The global token is disabled: mint a service token, or set SVC_CONTROL_PLANE_ALLOW_GLOBAL_TOKEN=true.',
    );
  }
  return { ...everywhere, kind: 'global', ...named('global', 'Global token') };
}

/**
 * The principal of calls without a token, where the operator allows them
 * (docs/reference/protocol.md, section 2.3).
 */
export function developmentPrincipal(): Principal {
  return { ...everywhere, kind: 'development', ...named('development', 'Development mode') };
}

const everywhere = {
  workspaceId: null,
  scopes: new Set(allScopes),
  personId: null,
  sessionId: null,
  job: null,
  expiresAtMs: null,
};

function named(id: string, displayName: string) {
  return { principalId: id, tokenId: id, displayName };
}

/**
 * Records the use of a token in the background. A lost write shortens the token's life by at most a
 * day, so the request does not wait for it.
 *
 * @returns whether the row has changed.
 */
function recordUse({ database, clock, log }: BearerDeps, row: TokenWithPerson): boolean {
  const use = judgeUse(row, clock.nowMs());
  if (use === null) return false;
  // Change the cached row first, so that other requests of this second do not write too.
  row.last_used_at = use.lastUsedAtMs;
  row.expires_at = use.expiresAtMs;
  database
    .writeConcurrent({ workspaceId: row.workspace_id, keys: [row.token_id] }, (tx) =>
      recordTokenUse(tx, row, use),
    )
    .catch((error: unknown) =>
      log.error({ err: error }, 'The last use of a token was not recorded.'),
    );
  return true;
}
