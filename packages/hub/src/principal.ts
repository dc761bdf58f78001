import type { Scope } from '@signalbox/contract';
import { assert } from './errors.ts';

/**
 * Who makes a request, as its token's or session's row says; never as the body says.
 * - `device`: a person's machine. `service`: a service principal. `job`: the tool of one job.
 * - `person`: a console session. `global`: the legacy token. `development`: no token at all, where
 *   the operator has allowed that.
 * - `anonymous`: whoever calls an endpoint that asks for no proof.
 */
export interface Principal {
  kind: 'device' | 'service' | 'job' | 'person' | 'global' | 'development' | 'anonymous';
  principalId: string;
  displayName: string;
  /** The only workspace it may use; null: decided for each (persons), or all. */
  workspaceId: string | null;
  scopes: ReadonlySet<Scope>;
  /** Of the token; constants for those without one. Agents serve what their token has named. */
  tokenId: string;
  personId: string | null;
  /** Of a console session. */
  sessionId: string | null;
  /** Of a job token: it may touch what belongs to this job and its run, and nothing else. */
  job: { jobId: string; runId: string | null; agentId: string } | null;
  expiresAtMs: number | null;
}

/** The person of a console session. */
export function personIdOf(principal: Principal): string {
  assert(principal.personId !== null, 'a console session has a person');
  return principal.personId;
}

/** A request as actions see it. */
export interface RequestContext {
  requestId: string;
  principal: Principal;
  /** The peer's IP address. */
  address: string;
  userAgent: string;
  /** Aborts when the client goes away. */
  signal: AbortSignal;
  cookies: Readonly<Record<string, string | undefined>>;
  /** Sets a cookie of the console; null takes it away. */
  setCookie(name: string, value: string | null, options: { maxAgeMs: number }): void;
}
