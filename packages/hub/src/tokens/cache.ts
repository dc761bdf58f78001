import type { Clock } from '../clock.ts';
import type { Database } from '../db/engine.ts';
import { readTokenByHash, type TokenWithPerson } from './store.ts';

/** How long another hub's revocation, or a change of role, may go unseen (contract, section 2). */
const AGE_MAX_MS = 1_000;
/** Tokens in use at once on one hub; beyond that the oldest are read again. */
const TOKENS_MAX = 10_000;

interface CachedToken {
  row: TokenWithPerson;
  readAtMs: number;
}

/**
 * The tokens read lately, so that a busy agent costs one query a second. Unknown tokens are not
 * kept: they would push out the known ones, and hide a token that is minted a moment later.
 */
export class TokenCache {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #tokens = new Map<string, CachedToken>();
  readonly #lookups = new Map<string, Promise<TokenWithPerson | undefined>>();

  constructor({ database, clock }: { database: Database; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** A token as it was within the last second. */
  async find(tokenHash: string): Promise<TokenWithPerson | undefined> {
    const known = this.#tokens.get(tokenHash);
    if (known !== undefined) {
      const ageMs = this.#clock.nowMs() - known.readAtMs;
      // A clock that was set back makes ages negative: they say nothing then.
      if (ageMs >= 0 && ageMs < AGE_MAX_MS) return known.row;
    }
    const running = this.#lookups.get(tokenHash);
    if (running !== undefined) return running;
    const readAtMs = this.#clock.nowMs();
    const lookup = readTokenByHash(this.#database.reader, tokenHash);
    this.#lookups.set(tokenHash, lookup);
    try {
      const row = await lookup;
      const isCurrent = this.#lookups.get(tokenHash) === lookup;
      if (row !== undefined && isCurrent) this.#keep(tokenHash, { row, readAtMs });
      return row;
    } finally {
      if (this.#lookups.get(tokenHash) === lookup) this.#lookups.delete(tokenHash);
    }
  }

  /**
   * Forgets everything: to be called when a token was revoked or a membership changed here. That is
   * rare, so it is not worth knowing which entries are touched. Lookups under way may have read
   * the state before; nobody joins them any more, and what they find is not kept.
   */
  clear(): void {
    this.#tokens.clear();
    this.#lookups.clear();
  }

  #keep(tokenHash: string, token: CachedToken): void {
    this.#tokens.delete(tokenHash);
    // A Map keeps the order of insertion: the first key is the one read longest ago.
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size < TOKENS_MAX) break;
      this.#tokens.delete(oldest);
    }
    this.#tokens.set(tokenHash, token);
  }
}
