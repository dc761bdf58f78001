import type { EndpointAuth, Scope } from '@signalbox/contract';
import type { FastifyRequest } from 'fastify';
import type { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { BodyProof } from './body-parsers.ts';
import type { CallCost } from './call-cost.ts';

/** Authenticates callers and decides which workspace they may use; passed in by `app.ts`. */
export interface Gatekeeper {
  /**
   * Finds the principal of a request. Runs before the body is read.
   * @throws HubError 401
   */
  authenticate: Record<EndpointAuth, (request: FastifyRequest) => Promise<Principal>>;
  /** For proofs that cover the body: checks them once the body has been read. */
  proveBody?: Partial<Record<EndpointAuth, BodyProof>>;
  /** The principal with its scopes in one workspace, or null when it may not use that one. */
  enterWorkspace(principal: Principal, workspaceId: string): Promise<Principal | null>;
  /**
   * Runs a handler on behalf of a principal, whose access may have to be checked as it writes, and
   * who gets an equal share of the database.
   */
  actAs<T>(principal: Principal, cost: Pick<CallCost, 'isLongRead'>, run: () => T): T;
  /** Rises whenever somebody may have lost access. */
  accessVersion(): number;
  /**
   * Watches a request that waits, and ends the wait when its caller loses access.
   *
   * @param since the version from before the caller was authenticated.
   * @returns ends the watch.
   */
  watchAccess(caller: WaitingCaller, since: number): () => void;
}

/** A request that waits, and the access that it needs while it does. */
export interface WaitingCaller {
  principal: Principal;
  /** The scopes of its endpoint, any of which is enough; empty: none is needed. */
  scopes: readonly Scope[];
  /** Ends the wait, because the caller has lost the access. */
  end(refusal: HubError): void;
}
