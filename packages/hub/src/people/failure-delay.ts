import { addressBlockOf } from '../base/address-block.ts';
import type { Clock } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';

interface Failures {
  count: number;
  lastAtMs: number;
}

/** The delay after a number of failures: none at first, then doubling with each, up to a limit. */
interface DelayCurve {
  freeFailures: number;
  firstDelayMs: number;
  delayMaxMs: number;
}

/** A person who forgot their password gets five tries; a program then gets twelve an hour. */
const perAccount: DelayCurve = { freeFailures: 5, firstDelayMs: 1_000, delayMaxMs: 300_000 };
/** An office may share one address, but trying one password on many accounts must not pay off. */
const perAddress: DelayCurve = { freeFailures: 50, firstDelayMs: 1_000, delayMaxMs: 60_000 };

/** Failures are forgotten after this time without a further one. */
const FORGET_MS = 60 * 60 * 1_000;
const KEYS_MAX = 20_000;

/**
 * Slows down password guessing without locking accounts: the delay is bounded and counted per
 * account and address, so that an attacker elsewhere cannot make the owner wait. The counts are in
 * memory: a restart resets them, and each hub counts separately.
 */
export class FailureDelay {
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Begins an attempt. The address may be the id of a known browser instead.
   * It counts as failed until `succeed` is called, so that concurrent attempts
   * cannot bypass the limit.
   *
   * @throws HubError RATE_LIMITED
   */
  begin(account: string, address: string): { succeed(): void } {
    const addressBlock = addressBlockOf(address);
    const accountKey = JSON.stringify([account, addressBlock]);
    const addressKey = JSON.stringify([addressBlock]);
    const waitMs = Math.max(
      this.#waitMs(accountKey, perAccount),
      this.#waitMs(addressKey, perAddress),
    );
    if (waitMs > 0) {
      throw new HubError('RATE_LIMITED', 'Too many attempts failed: wait, then try again.', {
        retryAfterMs: waitMs,
      });
    }
    this.#count(accountKey, 1);
    this.#count(addressKey, 1);
    return {
      succeed: () => {
        this.#failures.delete(accountKey);
        this.#count(addressKey, -1);
      },
    };
  }

  #waitMs(key: string, curve: DelayCurve): number {
    const failures = this.#failures.get(key);
    if (failures === undefined || failures.count < curve.freeFailures) return 0;
    const doublings = failures.count - curve.freeFailures;
    const delayMs = Math.min(curve.delayMaxMs, curve.firstDelayMs * 2 ** doublings);
    return failures.lastAtMs + delayMs - this.#clock.nowMs();
  }

  #count(key: string, by: 1 | -1): void {
    const nowMs = this.#clock.nowMs();
    const known = this.#failures.get(key);
    const isOld = known !== undefined && nowMs - known.lastAtMs > FORGET_MS;
    const count = (known === undefined || isOld ? 0 : known.count) + by;
    this.#failures.delete(key);
    if (count <= 0) return;
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size < KEYS_MAX) break;
      this.#failures.delete(oldest);
    }
    this.#failures.set(key, { count, lastAtMs: by > 0 ? nowMs : (known?.lastAtMs ?? nowMs) });
  }
}
