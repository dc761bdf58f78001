import type { PeopleDeps } from '../people/deps.ts';
import type { HookDeps } from '../start/hooks.ts';
import type { TokenCache } from '../tokens/cache.ts';

export interface MemberDeps extends PeopleDeps, HookDeps {
  tokenCache: TokenCache;
}
