import type { Clock } from '../base/clock.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Database } from '../db/engine.ts';
import { principalOfJob, principalOfToken } from './authenticate-bearer.ts';
import { listJobTokensByHash, listTokensById } from './store-bearers.ts';

/**
 * Reads what bearers may do now, for requests that wait. One statement for each kind of token,
 * however many wait.
 *
 * @returns for each principal, in order, the principal as it is now or why its token is refused.
 *   Principals without a token are returned as they are.
 */
export async function readBearerAccess(
  { database: { reader }, clock }: { database: Database; clock: Clock },
  principals: readonly Principal[],
): Promise<(Principal | HubError)[]> {
  const hashes = unique(principals.map(({ job }) => job?.tokenHash));
  const bearers = principals.filter(isTokenBearer);
  const [tokens, jobs] = await Promise.all([
    bearers.length === 0
      ? []
      : listTokensById(
          reader,
          unique(bearers.map(({ workspaceId }) => workspaceId)),
          unique(bearers.map(({ tokenId }) => tokenId)),
        ),
    hashes.length === 0 ? [] : listJobTokensByHash(reader, hashes),
  ]);
  const tokensById = new Map(tokens.map((row) => [row.token_id, row]));
  const jobsByHash = new Map(jobs.map((row) => [row.token_hash, row]));
  const nowMs = clock.nowMs();
  return principals.map((principal) => {
    try {
      if (principal.job !== null) {
        return principalOfJob(jobsByHash.get(principal.job.tokenHash), nowMs);
      }
      if (!isTokenBearer(principal)) return principal;
      const row = tokensById.get(principal.tokenId);
      return row === undefined ? new HubError('TOKEN_INVALID') : principalOfToken(row, nowMs);
    } catch (error) {
      if (error instanceof HubError) return error;
      throw error;
    }
  });
}

function isTokenBearer({ kind }: Principal): boolean {
  return kind === 'device' || kind === 'assistant' || kind === 'service';
}

function unique(values: readonly (string | null | undefined)[]): string[] {
  return [...new Set(values.filter((value) => value !== null && value !== undefined))];
}
