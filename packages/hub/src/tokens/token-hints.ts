import type { AccessWatch } from '../access/access-watch.ts';
import type { HintHandler } from '../cluster/hint-receiver.ts';
import type { TokenCache } from './cache.ts';

const TOKENS = 'tokens';

/** The hint for other hubs that a token or a membership has changed. */
export const tokensChanged = { kind: TOKENS, id: null };

/**
 * Clears this hub's token cache when another hub changed tokens, or may have, and ends the waits of
 * callers who have lost access, also when the hint of that was lost.
 */
export function createTokenHintHandler(
  tokenCache: Pick<TokenCache, 'clearHere'>,
  accessWatch: Pick<AccessWatch, 'check'>,
): HintHandler {
  return {
    async look() {
      await accessWatch.check();
      return false;
    },
    onKinds(kinds) {
      if (kinds === null || kinds.includes(TOKENS)) tokenCache.clearHere();
    },
  };
}
