import type { PeopleDeps } from '../people/deps.ts';
import type { TokenCache } from '../tokens/cache.ts';

export interface MemberDeps extends PeopleDeps {
  tokenCache: TokenCache;
}
