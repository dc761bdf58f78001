import type { Clock } from '../clock.ts';
import type { Database } from '../db/engine.ts';
import type { Principal } from '../principal.ts';
import { readTokenByHash, type TokenWithPerson } from './store-bearers.ts';

/**
 * How long a revocation or a role change on another hub may go unnoticed
 * (docs/reference/protocol.md, section 2.1).
 */
const AGE_MAX_MS = 1_000;
/** Cached tokens; beyond that the oldest are dropped. */
const TOKENS_MAX = 10_000;

/** A token as it was read, and its principal, which is built once and shared by all requests. */
export interface KnownToken {
  row: TokenWithPerson;
  principal: Principal | null;
}

interface CachedToken {
  token: KnownToken;
  readAtMs: number;
}

/** A read in progress. */
interface Lookup {
  token: Promise<KnownToken | undefined>;
  readAtMs: number;
}

/**
 * Caches tokens for a second, so that a busy agent costs one query a second. Unknown tokens are not
 * cached: they would displace known ones, and hide a token that is minted a moment later.
 */
export class TokenCache {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #notifyOthers: () => void;
  readonly #listeners: (() => void)[] = [];
  readonly #tokens = new Map<string, CachedToken>();
  readonly #lookups = new Map<string, Lookup>();

  /** @param notifyOthers clears the caches of the other hubs of the database. */
  constructor(
    { database, clock }: { database: Database; clock: Clock },
    notifyOthers: () => void = () => undefined,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#notifyOthers = notifyOthers;
  }

  /** A token that was read within the last second; undefined if it is not cached. */
  peek(tokenHash: string): KnownToken | undefined {
    const known = this.#tokens.get(tokenHash);
    return known !== undefined && this.#isFresh(known) ? known.token : undefined;
  }

  /** Reads a token, or returns it from the cache. Concurrent reads of a token share one query. */
  async find(tokenHash: string): Promise<KnownToken | undefined> {
    const known = this.peek(tokenHash);
    if (known !== undefined) return known;
    const running = this.#lookups.get(tokenHash);
    if (running !== undefined && this.#isFresh(running)) return running.token;
    const lookup = { token: this.#read(tokenHash), readAtMs: this.#clock.nowMs() };
    this.#lookups.set(tokenHash, lookup);
    try {
      const token = await lookup.token;
      const isCurrent = this.#lookups.get(tokenHash) === lookup;
      if (token !== undefined && isCurrent) {
        this.#keep(tokenHash, { token, readAtMs: lookup.readAtMs });
      }
      return token;
    } finally {
      if (this.#lookups.get(tokenHash) === lookup) this.#lookups.delete(tokenHash);
    }
  }

  #isFresh({ readAtMs }: { readAtMs: number }): boolean {
    const ageMs = this.#clock.nowMs() - readAtMs;
    // After the clock was set back, ages are negative and mean nothing.
    return ageMs >= 0 && ageMs < AGE_MAX_MS;
  }

  /**
   * Clears the cache. Call it after a token was revoked or a membership changed on this hub. That
   * is rare, so it does not track which entries are affected. Lookups in progress may have read
   * the old state: no later request joins them, and their results are not cached.
   */
  clear(): void {
    this.clearHere();
    this.#notifyOthers();
  }

  /** Clears the cache of this hub only, after a change on another hub. */
  clearHere(): void {
    this.#tokens.clear();
    this.#lookups.clear();
    for (const listener of this.#listeners) listener();
  }

  /** Calls a function after each change of tokens or memberships, here or on another hub. */
  onClear(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async #read(tokenHash: string): Promise<KnownToken | undefined> {
    const row = await readTokenByHash(this.#database.reader, tokenHash);
    return row && { row, principal: null };
  }

  #keep(tokenHash: string, cached: CachedToken): void {
    this.#tokens.delete(tokenHash);
    // A Map keeps insertion order, so the first key is the one read longest ago.
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size < TOKENS_MAX) break;
      this.#tokens.delete(oldest);
    }
    this.#tokens.set(tokenHash, cached);
  }
}
