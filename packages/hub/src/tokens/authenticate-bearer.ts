import { hash, timingSafeEqual } from 'node:crypto';
import { parseToken, type Scope } from '@signalbox/contract';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import type { Principal } from '../principal.ts';
import type { TokenCache } from './cache.ts';
import { allScopes, jobScopes, judgeToken, judgeUse, scopesOfRole } from './policy.ts';
import {
  hashToken,
  noteTokenUse,
  readJobTokenByHash,
  readTokenByHash,
  type TokenWithPerson,
} from './store.ts';

export interface BearerDeps {
  database: Database;
  clock: Clock;
  tokenCache: TokenCache;
  /** `SVC_CONTROL_PLANE_TOKEN`; null when unset. */
  globalToken: string | null;
  /** `SVC_CONTROL_PLANE_ALLOW_GLOBAL_TOKEN`. */
  globalTokenAllowed: boolean;
  /** Told of what fails beside a request and must not fail the request. */
  log: { error(context: object, message: string): void };
}

/** The schema's bound of a display name. */
const NAME_CHARS_MAX = 200;
const headerPattern = /^bearer +(\S+)$/i;

/**
 * Finds whose token an `Authorization` header holds. The check characters are verified before any
 * database work, so that noise costs nothing.
 *
 * @throws HubError TOKEN_INVALID, TOKEN_EXPIRED, TOKEN_REVOKED
 */
export async function authenticateBearer(deps: BearerDeps, header: string): Promise<Principal> {
  const token = headerPattern.exec(header.trim())?.[1];
  if (token === undefined) {
    throw new HubError('TOKEN_INVALID', 'Send the header Authorization: Bearer <token>.');
  }
  if (isGlobalToken(deps, token)) return enterGlobally(deps);
  const parsed = parseToken(token);
  if (parsed === null) {
    throw new HubError('TOKEN_INVALID', 'The bearer token is malformed: copy it again, whole.');
  }
  const tokenHash = hashToken(token);
  if (parsed.kind === 'job') return authenticateJob(deps, tokenHash);
  const known = deps.tokenCache.peek(tokenHash) ?? (await deps.tokenCache.find(tokenHash));
  let row = known?.row;
  // Another hub may have slid the expiry on since this row was read.
  if (row !== undefined && judgeToken(row, deps.clock.nowMs()) === 'TOKEN_EXPIRED') {
    row = await readTokenByHash(deps.database.reader, tokenHash);
  }
  if (row === undefined || row.kind !== parsed.kind) throw new HubError('TOKEN_INVALID');
  requireLiving(row, deps.clock.nowMs());
  const isNoted = noteUse(deps, row);
  if (known?.row !== row) return principalOf(row);
  if (isNoted) known.principal = null;
  known.principal ??= principalOf(row);
  return known.principal;
}

function requireLiving(row: TokenWithPerson, nowMs: number): void {
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

/** A device may do what its person may do now; a service principal what it was made for. */
function scopesOf(row: TokenWithPerson): ReadonlySet<Scope> {
  // Only known scopes are ever written.
  if (row.kind === 'service') return new Set(JSON.parse(row.scopes) as Scope[]);
  if (row.role === null) {
    throw new HubError('TOKEN_REVOKED', 'The person no longer belongs to this workspace.');
  }
  return new Set(scopesOfRole(row.role));
}

function nameOf(row: TokenWithPerson): string {
  const parts = row.kind === 'device' ? [row.person_name, row.name] : [row.name];
  const name = parts.filter(Boolean).join(' on ');
  // A cut may split a pair of surrogates, which no JSON reader likes.
  return name.slice(0, NAME_CHARS_MAX).toWellFormed();
}

async function authenticateJob(deps: BearerDeps, tokenHash: string): Promise<Principal> {
  const row = await readJobTokenByHash(deps.database.reader, tokenHash);
  // Only running attempts are looked for: a well-formed job token that is unknown has ended.
  if (
    row === undefined ||
    row.agent_id === null ||
    row.lease_expires_at === null ||
    row.lease_expires_at <= deps.clock.nowMs()
  ) {
    throw new HubError('TOKEN_EXPIRED', 'The lease of the job that this token was for has ended.');
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
    job: { jobId: row.entry_id, runId: row.run_id, agentId: row.agent_id },
    expiresAtMs: row.lease_expires_at,
  };
}

function isGlobalToken({ globalToken }: BearerDeps, token: string): boolean {
  if (globalToken === null || globalToken === '') return false;
  // Hashed first, so that both sides are of one length and the time tells nothing.
  return timingSafeEqual(hash('sha256', token, 'buffer'), hash('sha256', globalToken, 'buffer'));
}

function enterGlobally({ globalTokenAllowed }: BearerDeps): Principal {
  if (!globalTokenAllowed) {
    throw new HubError(
      'TOKEN_INVALID',
      'The global token is off: mint a service token, or set SVC_CONTROL_PLANE_ALLOW_GLOBAL_TOKEN=true.',
    );
  }
  return { ...everywhere, kind: 'global', ...named('global', 'Global token') };
}

/** Who calls without a token where the operator allows that (contract, section 2). */
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
 * Off the request's path: a use that is not noted costs at most a day of the token's life.
 * @returns whether the row has changed.
 */
function noteUse({ database, clock, log }: BearerDeps, row: TokenWithPerson): boolean {
  const use = judgeUse(row, clock.nowMs());
  if (use === null) return false;
  // The cached row learns of it first, so that other requests of this second do not write as well.
  row.last_used_at = use.lastUsedAtMs;
  row.expires_at = use.expiresAtMs;
  database
    .writeConcurrent({ workspaceId: row.workspace_id, keys: [row.token_id] }, (tx) =>
      noteTokenUse(tx, row, use),
    )
    .catch((error: unknown) => log.error({ err: error }, 'The use of a token was not noted.'));
  return true;
}
