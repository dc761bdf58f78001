import type { Scope } from '@signalbox/contract';
import { assert } from './errors.ts';

/**
 * The authenticated caller of a request. It comes from the row of the token or session, never from
 * the body.
 * - `device`: a person's machine. `assistant`: a person's assistant, at `/mcp` only. `service`: a
 *   service principal. `job`: the tool of one job.
 * - `person`: a console session. `message`: a person who writes or presses a button elsewhere, such
 *   as in a chat. `global`: the legacy token. `development`: a request without a
 *   token, where the operator allows it.
 * - `anonymous`: the caller of an endpoint without authentication.
 */
export interface Principal {
  kind:
    | 'device'
    | 'assistant'
    | 'service'
    | 'job'
    | 'person'
    | 'message'
    | 'global'
    | 'development'
    | 'anonymous';
  principalId: string;
  displayName: string;
  /** The only workspace it may use; null: all, or for people those that they are members of. */
  workspaceId: string | null;
  scopes: ReadonlySet<Scope>;
  /** The token's id; a constant without one. Agents serve the repositories of their token. */
  tokenId: string;
  personId: string | null;
  /** Only for console sessions. */
  sessionId: string | null;
  /** Only for job tokens, which give access to this job and its run only. */
  job: { jobId: string; runId: string | null; agentId: string; tokenHash: string } | null;
  expiresAtMs: number | null;
}

/** The name of a service principal, which is part of its id; null: another principal. */
export function serviceName(principalId: string): string | null {
  const prefix = 'service:';
  return principalId.startsWith(prefix) ? principalId.slice(prefix.length) : null;
}

/** The person of a console session. */
export function personIdOf(principal: Principal): string {
  assert(principal.personId !== null, 'a console session has a person');
  return principal.personId;
}

/** The parts of a request that operations use. */
export interface RequestContext {
  requestId: string;
  principal: Principal;
  /** The peer's IP address. */
  address: string;
  userAgent: string;
  /**
   * Aborts when the client disconnects, and when the caller loses access; `reason` is then the
   * refusal, which the client gets instead of the answer.
   */
  signal: AbortSignal;
  /**
   * The same signal, for a call that waits for something to happen. It leaves its slot to the next
   * call of its caller, so a call that works must not use it.
   */
  waitSignal: AbortSignal;
  /**
   * Pays for what the body asks beyond the cost of its row. The units of calls that keep a lease
   * are in buckets of their own.
   *
   * @throws HubError RATE_LIMITED
   */
  pay(cost: { units: number; isLease: boolean }): void;
  cookies: Readonly<Record<string, string | undefined>>;
  /** Sets a cookie of the console; null deletes it. */
  setCookie(name: string, value: string | null, options: { maxAgeMs: number }): void;
}
