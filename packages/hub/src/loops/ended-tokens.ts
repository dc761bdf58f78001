import { AGENTS_MAX, endLeasesOfEndedTokens } from '../agents/end-leases.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { createLoop, type Loop } from './loop.ts';

/** Tools stop at once, since their job tokens end; the jobs follow within 2 s. */
const ENDED_TOKENS_INTERVAL_MS = 1_000;

/** Recovers the leases of agents whose token has ended, in all workspaces. */
export function createEndedTokens(deps: HubDeps, onError: (error: unknown) => void): Loop<number> {
  return createLoop({
    name: 'ended-tokens',
    intervalMs: ENDED_TOKENS_INTERVAL_MS,
    clock: deps.clock,
    work: () => endLeasesOfEndedTokens(deps),
    hasMore: (ended) => ended === AGENTS_MAX,
    onError,
  });
}
