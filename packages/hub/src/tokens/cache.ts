import type { Clock } from '../base/clock.ts';
import type { Principal } from '../base/principal.ts';
import { RecentReads } from '../base/recent-reads.ts';
import type { Database } from '../db/engine.ts';
import { readTokenByHash, type TokenWithPerson } from './store-bearers.ts';

/**
 * How long a revocation or a role change on another hub may go unnoticed
 * (docs/reference/protocol.md, section 2.1).
 */
export const ACCESS_AGE_MAX_MS = 1_000;
/** Cached tokens; beyond that the oldest are dropped. */
const TOKENS_MAX = 10_000;

/** A token as it was read, and its principal, which is built once and shared by all requests. */
export interface KnownToken {
  row: TokenWithPerson;
  principal: Principal | null;
}

/** Caches tokens for a second, so that a busy agent costs one query a second. */
export class TokenCache {
  readonly #database: Database;
  readonly #notifyOthers: () => void;
  readonly #listeners: (() => void)[] = [];
  readonly #tokens: RecentReads<KnownToken>;

  /** @param notifyOthers clears the caches of the other hubs of the database. */
  constructor(
    { database, clock }: { database: Database; clock: Clock },
    notifyOthers: () => void = () => undefined,
  ) {
    this.#database = database;
    this.#notifyOthers = notifyOthers;
    this.#tokens = new RecentReads(clock, { ageMaxMs: ACCESS_AGE_MAX_MS, countMax: TOKENS_MAX });
  }

  /** A token that was read within the last second; undefined if it is not cached. */
  peek(tokenHash: string): KnownToken | undefined {
    return this.#tokens.peek(tokenHash);
  }

  /** Reads a token, or returns it from the cache. Concurrent reads of a token share one query. */
  find(tokenHash: string): Promise<KnownToken | undefined> {
    return this.#tokens.find(tokenHash, async () => {
      const row = await readTokenByHash(this.#database.reader, tokenHash);
      return row && { row, principal: null };
    });
  }

  /**
   * Clears the cache. Call it after a token was revoked or a membership changed on this hub. That
   * is rare, so it does not track which entries are affected.
   */
  clear(): void {
    this.clearHere();
    this.#notifyOthers();
  }

  /** Clears the cache of this hub only, after a change on another hub. */
  clearHere(): void {
    this.#tokens.clear();
    for (const listener of this.#listeners) listener();
  }

  /** Calls a function after each change of tokens or memberships, here or on another hub. */
  onClear(listener: () => void): void {
    this.#listeners.push(listener);
  }
}
