import { addressBlockOf } from '../base/address-block.ts';
import { BoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { CallCost } from './call-cost.ts';
import { CallSlots, type Slot } from './call-slots.ts';
import { CallTurns } from './call-turns.ts';
import { type Payment, TokenBuckets } from './token-buckets.ts';

/** Units a second (`CallCost.units`) over all hubs of the database; 0: no limit. */
interface RateLimits {
  /** Of a device or service token, such as that of a whole fleet. */
  tokenRate: number;
  /** Of all tokens of a workspace together. */
  workspaceRate: number;
  /** Of callers without a valid token or session, by address. */
  addressRate: number;
}

interface LimiterOptions {
  limits: RateLimits;
  clock: Pick<Clock, 'nowMs'>;
  /** The number of hubs that are running, this one included. */
  hubs: () => number;
}

/** The share of a token's rate for a person at the console, and for the tool of one job. */
const SINGLE_CALLER_SHARE = 0.1;
/** A refused token or session: a guess costs a look into the database and tells the caller more. */
const REFUSED_UNITS = 10;

/** How long a unit keeps the event loop. */
export const UNIT_MS = 0.3;
/** The share of all strangers together, as a part of that of a workspace. */
const STRANGERS_SHARE = 0.25;
/** More people than are at their consoles at the same time. */
const PEOPLE_MAX = 10_000;

/** Long reads that one caller may have under way: more would only wait for the event loop. */
export const READS_MAX = 8;
export const READS_WAITING_MAX = 120;
/**
 * Other calls that one caller may have under way; the hub serves them in about 10 ms. The others
 * wait, so that between any two of them the calls of everybody else have their turn.
 */
export const CALLS_MAX = 64;
/** More than the agents of a large fleet that share a token. */
export const CALLS_WAITING_MAX = 20_000;

/**
 * Limits what callers may take of the hub, before the body of a request is read
 * (docs/decisions/0020, 0040). A caller with a valid token or session pays by it and, for a token,
 * by its workspace; all others pay by their address. So strangers behind the same address or proxy
 * never take anything from those who are authenticated.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #buckets = new TokenBuckets();
  readonly #reads = new CallSlots({ busyMax: READS_MAX, waitingMax: READS_WAITING_MAX });
  readonly #calls = new CallSlots({ busyMax: CALLS_MAX, waitingMax: CALLS_WAITING_MAX });
  readonly #turns = new CallTurns();
  /** The workspaces that people entered last, by the ids of the people. */
  readonly #workspaceOf = new BoundedMap<string, string>(PEOPLE_MAX);

  constructor(options: LimiterOptions) {
    this.#options = options;
  }

  /**
   * Admits a request that is not authenticated.
   * @throws HubError RATE_LIMITED
   */
  admitStranger(address: string, units: number): void {
    const { addressRate } = this.#options.limits;
    const key = `address ${addressBlockOf(address)}`;
    this.#pay('this address', [this.#payment(key, addressRate, units)]);
  }

  /**
   * Counts a refused token or session.
   * @throws HubError RATE_LIMITED in place of the refusal, when the address sends too many.
   */
  countRefused(address: string): void {
    this.admitStranger(address, REFUSED_UNITS);
  }

  /**
   * Admits a request that is authenticated.
   * @throws HubError RATE_LIMITED
   */
  admitCaller(principal: Principal, address: string, cost: CallCost): void {
    const { tokenRate, workspaceRate } = this.#options.limits;
    const lane = cost.isLease ? 'lease ' : '';
    const isSingle = principal.kind === 'person' || principal.kind === 'job';
    const rate = isSingle ? tokenRate * SINGLE_CALLER_SHARE : tokenRate;
    const payments = [
      this.#payment(`${lane}caller ${callerOf(principal, address)}`, rate, cost.units),
    ];
    // The workspace of a person is known only when the body has been read.
    if (principal.workspaceId !== null) {
      const key = `${lane}workspace ${principal.workspaceId}`;
      payments.push(this.#payment(key, workspaceRate, cost.units));
    }
    this.#pay(isSingle ? 'this caller' : 'this token or its workspace', payments);
  }

  /**
   * Takes a slot for a call, which must leave it at its end.
   * @throws HubError RATE_LIMITED when too many calls of the caller wait.
   */
  takeSlot(principal: Principal, address: string, cost: CallCost): Slot {
    const caller = callerOf(principal, address);
    const slot = cost.isLongRead
      ? this.#reads.enter(caller)
      : this.#calls.enter(cost.isLease ? `lease ${caller}` : caller);
    if (slot === null) {
      throw new HubError(
        'RATE_LIMITED',
        'Too many requests of this caller are under way: wait for their answers.',
        { retryAfterMs: 1_000 },
      );
    }
    return slot;
  }

  /**
   * Notes which workspace a person's call was for. Which one their next call is for is known only
   * when its body has been read: until then it counts as a call for the same workspace.
   */
  noteEntered({ kind, principalId }: Principal, workspaceId: string): void {
    if (kind === 'person') this.#workspaceOf.set(principalId, workspaceId);
  }

  /**
   * Waits until a call may begin. Refused calls wait as well, so a flood of them takes no more.
   *
   * @param principal null for callers that are not authenticated.
   * @returns null: at once.
   */
  waitForTurn(
    principal: Principal | null,
    address: string,
    { units }: Pick<CallCost, 'units'>,
  ): Promise<void> | null {
    const costMs = units * UNIT_MS;
    if (principal === null || principal.kind === 'anonymous') {
      const strangers = { workspace: 'strangers', caller: addressBlockOf(address) };
      return this.#turns.enter(strangers, costMs, costMs / STRANGERS_SHARE);
    }
    const { workspaceId, principalId } = principal;
    const workspace = workspaceId ?? this.#workspaceOf.get(principalId) ?? principalId;
    return this.#turns.enter({ workspace, caller: callerOf(principal, address) }, costMs);
  }

  /** Each hub takes its share, so that a caller who uses several gets the limit once. */
  #payment(key: string, rate: number, units: number): Payment {
    return { key, unitsPerSecond: rate / this.#options.hubs(), units };
  }

  #pay(who: string, payments: readonly Payment[]): void {
    const retryAfterMs = this.#buckets.pay(this.#options.clock.nowMs(), payments);
    if (retryAfterMs === 0) return;
    throw new HubError(
      'RATE_LIMITED',
      `More requests come from ${who} than this hub allows: send them more slowly.`,
      { retryAfterMs },
    );
  }
}

/** Whose bucket pays. Systems that share the integration secret are told apart by address. */
function callerOf(principal: Principal, address: string): string {
  switch (principal.kind) {
    case 'job':
    case 'person':
      return principal.principalId;
    case 'anonymous':
      return `${principal.principalId} ${addressBlockOf(address)}`;
    default:
      return principal.tokenId;
  }
}
