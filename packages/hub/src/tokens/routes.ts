import { endpoints } from '@signalbox/contract';
import type { Database } from '../db/engine.ts';
import type { Api } from '../http/bind.ts';
import { findWorkspace } from '../workspaces/actions.ts';
import { revokeOwnToken } from './actions.ts';
import type { TokenCache } from './cache.ts';
import { presentPrincipal } from './present.ts';

export function bindTokenRoutes(
  api: Api,
  deps: { database: Database; tokenCache: TokenCache },
): void {
  api.bind(
    endpoints.tokens.revoke,
    async (_input, { principal }) => {
      await revokeOwnToken(deps, principal);
      return { revoked: true as const };
    },
    // Let in to be told why it cannot.
    { allowJob: () => true },
  );
  api.bind(
    endpoints.tokens.whoami,
    async (_input, { principal }) => {
      const { workspaceId } = principal;
      const workspace =
        workspaceId === null ? null : await findWorkspace(deps.database, workspaceId);
      return presentPrincipal(principal, workspace?.slug ?? null);
    },
    { allowJob: () => true },
  );
}
