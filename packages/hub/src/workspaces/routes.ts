import { endpoints } from '@signalbox/contract';
import type { Database } from '../db/engine.ts';
import type { Api, Gatekeeper } from '../http/bind.ts';
import { presentWorkspace } from './present.ts';
import { readWorkspaceBySlug } from './store.ts';

export function bindWorkspaceRoutes(
  api: Api,
  { database, gatekeeper }: { database: Database; gatekeeper: Pick<Gatekeeper, 'enterWorkspace'> },
): void {
  api.bind(
    endpoints.workspaces.resolve,
    async ({ slug }, { principal }) => {
      const row = await readWorkspaceBySlug(database.reader, slug);
      // Unknown and out of reach are one answer: nobody learns which slugs exist.
      if (
        row === undefined ||
        (await gatekeeper.enterWorkspace(principal, row.workspace_id)) === null
      ) {
        return { workspaceId: null, workspace: null };
      }
      return { workspaceId: row.workspace_id, workspace: presentWorkspace(row) };
    },
    // A job's tool may learn the workspace that its token names anyway.
    { allowJob: () => true },
  );
}
