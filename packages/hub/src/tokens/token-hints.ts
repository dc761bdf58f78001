import type { HintHandler } from '../cluster/hint-receiver.ts';
import type { TokenCache } from './cache.ts';

const TOKENS = 'tokens';

/** The hint for other hubs that a token or a membership has changed. */
export const tokensChanged = { kind: TOKENS, id: null };

/** Clears this hub's token cache when another hub changed tokens, or may have. */
export function createTokenHintHandler(tokenCache: Pick<TokenCache, 'clearHere'>): HintHandler {
  return {
    onKinds(kinds) {
      if (kinds === null || kinds.includes(TOKENS)) tokenCache.clearHere();
    },
  };
}
