import type { IncomingHttpHeaders } from 'node:http';
import { BODY_BYTES_MAX, type EndpointAuth, statusOf } from '@signalbox/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { CallCost } from './call-cost.ts';
import type { Gatekeeper } from './gatekeeper.ts';
import type { Limiter } from './limiter.ts';

/**
 * A request whose body takes longer to arrive is authenticated again, so that revocations take
 * effect within a second.
 */
const AUTHENTICATED_MS_MAX = 500;
/** JSON of many small values takes as long, texts take a tenth. */
const BODY_BYTES_OF_UNIT = 16_384;
/** The cost of what is over soon, such as a refusal before the body is read. */
const SHORT_CALL = { units: 1 };

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the request is authenticated. */
    principal: Principal | null;
    /** The gatekeeper's `accessVersion` from before that. */
    accessVersion: number;
    /** When that was, by `performance.now()`. */
    authenticatedAtMs: number;
    /** Lets the caller's next call begin although this one is not answered yet. */
    leaveSlot: () => void;
  }
}

/** The state of access in which a caller was authenticated, and when. */
type Checked = Pick<FastifyRequest, 'accessVersion' | 'authenticatedAtMs'>;

/** Admits calls: authenticates their callers, and lets the calls begin in slots and in turns. */
export class Admission {
  readonly #gatekeeper: Gatekeeper;
  readonly #limiter: Limiter;

  constructor(gatekeeper: Gatekeeper, limiter: Limiter) {
    this.#gatekeeper = gatekeeper;
    this.#limiter = limiter;
  }

  /**
   * Authenticates a request, counts it against the limits of its caller and waits for its turn. Its
   * body is unread.
   * @throws HubError 401, RATE_LIMITED
   */
  async admit(
    auth: EndpointAuth,
    cost: CallCost,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const limiter = this.#limiter;
    const { ip } = request;
    // A chat's signature covers the body, so until then its sender is a stranger.
    if (auth === 'none' || auth === 'chat-signature') {
      const units = cost.units + bodyUnits(request.headers);
      const turn = cost.units === 0 ? null : limiter.waitForTurn(null, ip, { units });
      if (turn !== null) await turn;
      limiter.admitStranger(ip, cost.units);
      await this.authenticate(request, auth);
      return;
    }
    try {
      const principal = await this.authenticate(request, auth);
      limiter.admitCaller(principal, ip, cost);
      const slot = limiter.takeSlot(principal, ip, cost);
      reply.raw.once('close', slot.leave);
      request.leaveSlot = slot.leave;
      if (slot.ready !== null) await slot.ready;
    } catch (error) {
      await limiter.waitForTurn(request.principal, ip, SHORT_CALL);
      if (error instanceof HubError && statusOf(error.code) === 401) limiter.countRefused(ip);
      throw error;
    }
    const units = beginningOf(cost).units + bodyUnits(request.headers);
    const turn = limiter.waitForTurn(request.principal, ip, { units });
    if (turn !== null) await turn;
  }

  /**
   * Counts a call that a request to another path makes, and waits for its turn. A long read leaves
   * the slot of the request, so that the messages of a caller never wait for each other.
   * @throws HubError RATE_LIMITED
   */
  async admitFurther(
    principal: Principal,
    cost: CallCost,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { ip } = request;
    this.#limiter.admitCaller(principal, ip, cost);
    if (cost.isLongRead) {
      request.leaveSlot();
      const slot = this.#limiter.takeSlot(principal, ip, cost);
      reply.raw.once('close', slot.leave);
      request.leaveSlot = slot.leave;
      await slot.ready;
    }
    await this.#limiter.waitForTurn(principal, ip, beginningOf(cost));
  }

  /** Finds the caller of a request. @throws HubError 401 */
  async authenticate(request: FastifyRequest, auth: EndpointAuth): Promise<Principal> {
    request.accessVersion = this.#gatekeeper.accessVersion();
    request.authenticatedAtMs = performance.now();
    const principal = await this.#gatekeeper.authenticate[auth](request);
    request.principal = principal;
    return principal;
  }

  /** Whether the caller may have lost access since the request was authenticated. */
  isStale({ accessVersion, authenticatedAtMs }: Checked): boolean {
    if (accessVersion !== this.#gatekeeper.accessVersion()) return true;
    return performance.now() - authenticatedAtMs > AUTHENTICATED_MS_MAX;
  }
}

/** A long read costs more when it is answered, and has a turn for that. */
function beginningOf(cost: CallCost): Pick<CallCost, 'units'> {
  return cost.isLongRead ? SHORT_CALL : cost;
}

/** The cost of reading and checking a body, which is unread yet. */
function bodyUnits(headers: IncomingHttpHeaders): number {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  // A body of unknown length may have as many bytes as the hub takes.
  const bytes = coding === undefined ? Number(length ?? 0) : BODY_BYTES_MAX;
  return Math.min(bytes, BODY_BYTES_MAX) / BODY_BYTES_OF_UNIT;
}
