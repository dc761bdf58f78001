import { listMembershipsOfPerson } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import { addressBlockOf } from '../base/address-block.ts';
import type { Clock } from '../base/clock.ts';
import { timestampOf } from '../base/clock.ts';
import type { Database, Tx } from '../db/engine.ts';
import { writeAccount } from './write-account.ts';

/** Failures of one account from one address since they were last recorded. */
interface Failures {
  personId: string;
  /** IPv6 by its /64, as for the delay. */
  address: string;
  count: number;
  firstAtMs: number;
  lastAtMs: number;
}

/** Further addresses of an account share one row: an attacker with many must not fill the log. */
const ADDRESSES_MAX = 5;
const OTHER_ADDRESSES = 'other addresses';

/**
 * Sign-ins that failed, counted in memory until the loop `failedSignIns` records them: in the
 * request itself, the write would tell by its time that the account exists, and let a stranger fill
 * the audit log. Only accounts that exist are counted; others belong to no workspace.
 */
export class FailedSignIns {
  readonly #clock: Clock;
  #failures = new Map<string, Failures>();
  #addressesOf = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(personId: string, from: string): void {
    const nowMs = this.#clock.nowMs();
    const [address, key] = this.#place(personId, addressBlockOf(from));
    const known = this.#failures.get(key);
    if (known === undefined) {
      this.#failures.set(key, { personId, address, count: 1, firstAtMs: nowMs, lastAtMs: nowMs });
    } else {
      known.count += 1;
      known.lastAtMs = nowMs;
    }
  }

  /**
   * Writes what was counted to the audit log of each workspace of the people: one row per account
   * and address, in one action per account. What cannot be written stays counted.
   *
   * @returns how many rows of failures there were.
   */
  async record(database: Database): Promise<number> {
    const failures = this.#failures;
    this.#failures = new Map();
    this.#addressesOf = new Map();
    const byPerson = Map.groupBy(failures, ([, { personId }]) => personId);
    const ends = await Promise.allSettled(
      [...byPerson].map(([personId, entries]) => this.#recordOf(database, personId, entries)),
    );
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return failures.size;
  }

  async #recordOf(
    database: Database,
    personId: string,
    entries: readonly (readonly [key: string, failures: Failures])[],
  ): Promise<void> {
    try {
      const failures = entries.map(([, counted]) => counted);
      await writeAccount(database, personId, (tx) => writeFailures(tx, personId, failures));
    } catch (error) {
      for (const [key, before] of entries) this.#putBack(key, before);
      throw error;
    }
  }

  #place(personId: string, block: string): [address: string, key: string] {
    const own = JSON.stringify([personId, block]);
    if (this.#failures.has(own)) return [block, own];
    const addresses = this.#addressesOf.get(personId) ?? 0;
    if (addresses >= ADDRESSES_MAX) {
      return [OTHER_ADDRESSES, JSON.stringify([personId, OTHER_ADDRESSES])];
    }
    this.#addressesOf.set(personId, addresses + 1);
    return [block, own];
  }

  #putBack(key: string, before: Failures): void {
    const since = this.#failures.get(key);
    this.#failures.set(key, {
      ...before,
      count: before.count + (since?.count ?? 0),
      lastAtMs: since?.lastAtMs ?? before.lastAtMs,
    });
  }
}

async function writeFailures(
  tx: Tx,
  personId: string,
  failures: readonly Failures[],
): Promise<void> {
  for (const { workspace_id: workspaceId } of await listMembershipsOfPerson(tx, personId)) {
    for (const { address, count, firstAtMs, lastAtMs } of failures) {
      await appendAudit(tx, {
        workspaceId,
        actor: 'unknown',
        action: 'session.sign-in-failed',
        subject: personId,
        data: { address, count, from: timestampOf(firstAtMs), to: timestampOf(lastAtMs) },
      });
    }
  }
}
