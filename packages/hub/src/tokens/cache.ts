import type { Clock } from '../clock.ts';
import type { Database } from '../db/engine.ts';
import type { Principal } from '../principal.ts';
import { readTokenByHash, type TokenWithPerson } from './store.ts';

/** How long another hub's revocation, or a change of role, may go unseen (contract, section 2). */
const AGE_MAX_MS = 1_000;
/** Tokens in use at once on one hub; beyond that the oldest are read again. */
const TOKENS_MAX = 10_000;

/** A token as it was read, with what is made of it once for all requests that it serves. */
export interface KnownToken {
  row: TokenWithPerson;
  principal: Principal | null;
}

interface CachedToken {
  token: KnownToken;
  readAtMs: number;
}

/** A reading that is under way. */
interface Lookup {
  token: Promise<KnownToken | undefined>;
  readAtMs: number;
}

/**
 * The tokens read lately, so that a busy agent costs one query a second. Unknown tokens are not
 * kept: they would push out the known ones, and hide a token that is minted a moment later.
 */
export class TokenCache {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #notifyOthers: () => void;
  readonly #tokens = new Map<string, CachedToken>();
  readonly #lookups = new Map<string, Lookup>();

  /** @param notifyOthers notifies the other hubs of the database of a `clear`. */
  constructor(
    { database, clock }: { database: Database; clock: Clock },
    notifyOthers: () => void = () => undefined,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#notifyOthers = notifyOthers;
  }

  /** A token as it was within the last second; undefined when it has not been read since. */
  peek(tokenHash: string): KnownToken | undefined {
    const known = this.#tokens.get(tokenHash);
    return known !== undefined && this.#isFresh(known) ? known.token : undefined;
  }

  /** Reads a token, unless it was read within the last second, or is being read since then. */
  async find(tokenHash: string): Promise<KnownToken | undefined> {
    const known = this.peek(tokenHash);
    if (known !== undefined) return known;
    const underWay = this.#lookups.get(tokenHash);
    if (underWay !== undefined && this.#isFresh(underWay)) return underWay.token;
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
    // A clock that was set back makes ages negative: they say nothing then.
    return ageMs >= 0 && ageMs < AGE_MAX_MS;
  }

  /**
   * Forgets everything: to be called when a token was revoked or a membership changed here. That is
   * rare, so it is not worth knowing which entries are touched. Lookups under way may have read
   * the state before; nobody joins them any more, and what they find is not kept.
   */
  clear(): void {
    this.clearHere();
    this.#notifyOthers();
  }

  /** The same for a change on another hub. */
  clearHere(): void {
    this.#tokens.clear();
    this.#lookups.clear();
  }

  async #read(tokenHash: string): Promise<KnownToken | undefined> {
    const row = await readTokenByHash(this.#database.reader, tokenHash);
    return row && { row, principal: null };
  }

  #keep(tokenHash: string, cached: CachedToken): void {
    this.#tokens.delete(tokenHash);
    // A Map keeps the order of insertion: the first key is the one read longest ago.
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size < TOKENS_MAX) break;
      this.#tokens.delete(oldest);
    }
    this.#tokens.set(tokenHash, cached);
  }
}
