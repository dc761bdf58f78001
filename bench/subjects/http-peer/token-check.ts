import { hash } from 'node:crypto';
import { parseToken } from '@signalbox/contract';
import type { PeerQueue, TokenRecord } from './peer-queue.ts';

/** As in the hub: a busy agent costs one lookup a second. */
const AGE_MAX_MS = 1_000;
const headerPattern = /^bearer +(\S+)$/i;

/** Checks bearer tokens as the hub does: check characters, hash, lookup, expiry. */
export class TokenCheck {
  readonly #queue: Pick<PeerQueue, 'findToken'>;
  readonly #known = new Map<string, { readonly token: TokenRecord; readonly readAtMs: number }>();
  readonly #lookups = new Map<string, Promise<TokenRecord | null>>();

  constructor(queue: Pick<PeerQueue, 'findToken'>) {
    this.#queue = queue;
  }

  /** The token of a request's header; null if it is not valid. */
  async check(header: string | undefined): Promise<TokenRecord | null> {
    const text = headerPattern.exec(header?.trim() ?? '')?.[1];
    if (text === undefined || parseToken(text) === null) return null;
    const tokenHash = hashToken(text);
    const known = this.#known.get(tokenHash);
    const isFresh = known !== undefined && Date.now() - known.readAtMs < AGE_MAX_MS;
    const token = isFresh ? known.token : await this.#find(tokenHash);
    return token === null || token.expiresAtMs <= Date.now() ? null : token;
  }

  /** Concurrent lookups of a token share one read. */
  #find(tokenHash: string): Promise<TokenRecord | null> {
    let lookup = this.#lookups.get(tokenHash);
    if (lookup === undefined) {
      const readAtMs = Date.now();
      lookup = this.#queue
        .findToken(tokenHash)
        .then((token) => {
          if (token !== null) this.#known.set(tokenHash, { token, readAtMs });
          return token;
        })
        .finally(() => this.#lookups.delete(tokenHash));
      this.#lookups.set(tokenHash, lookup);
    }
    return lookup;
  }
}

export function hashToken(text: string): string {
  return hash('sha256', text);
}
