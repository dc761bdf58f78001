import { createIdSource, type Scope, type Workspace } from '@signalbox/contract';
import { systemClock, timestampOf } from './clock.ts';
import type { Config } from './config.ts';
import { prepareDataDirectory } from './db/data-directory.ts';
import type { Database } from './db/engine.ts';
import { migrate } from './db/migrate.ts';
import { openSqlite } from './db/sqlite.ts';
import { HubError } from './errors.ts';
import { mintServiceToken } from './tokens/actions.ts';
import { createWorkspace } from './workspaces/actions.ts';
import { presentWorkspace } from './workspaces/present.ts';
import { readWorkspaceBySlug } from './workspaces/store.ts';

/*
 * What the operator does from a shell, beside a running or a stopped hub: each opens the database,
 * acts once and closes it. Whoever can write the data directory may do all of it.
 */

const ids = createIdSource(systemClock.nowMs);

/** @throws HubError SLUG_TAKEN, INVALID_REQUEST; StartError */
export function createWorkspaceByAdmin(
  config: Config,
  draft: { slug: string; name: string },
): Promise<Workspace> {
  return withDatabase(config, async (database) => {
    const row = await database.write((tx) => createWorkspace({ database, ids }, tx, draft));
    return presentWorkspace(row);
  });
}

export interface AdminToken {
  /** Shown once; only its hash is kept. */
  token: string;
  tokenId: string;
  workspaceId: string;
  workspaceSlug: string;
  scopes: readonly Scope[];
  expiresAt: string;
}

/** @throws HubError WORKSPACE_NOT_FOUND, INVALID_REQUEST; StartError */
export function mintTokenByAdmin(
  config: Config,
  draft: { workspaceSlug: string; name: string; scopes?: Scope[]; expiresInMs?: number },
): Promise<AdminToken> {
  const { workspaceSlug, ...rest } = draft;
  return withDatabase(config, (database) =>
    database.write(async (tx) => {
      const workspace = await readWorkspaceBySlug(tx, workspaceSlug);
      if (workspace === undefined) {
        throw new HubError(
          'WORKSPACE_NOT_FOUND',
          `There is no workspace "${workspaceSlug}": make it with signalbox admin workspace create.`,
        );
      }
      const workspaceId = workspace.workspace_id;
      const minted = await mintServiceToken({ database, ids }, tx, {
        ...rest,
        workspaceId,
        createdBy: 'operator',
      });
      return {
        token: minted.token,
        tokenId: minted.tokenId,
        workspaceId,
        workspaceSlug,
        scopes: minted.scopes,
        expiresAt: timestampOf(minted.expiresAtMs),
      };
    }),
  );
}

async function withDatabase<T>(config: Config, act: (database: Database) => Promise<T>) {
  const { databasePath } = prepareDataDirectory(config.dataDir);
  const database = openSqlite(databasePath, systemClock);
  try {
    await migrate(database);
    return await act(database);
  } finally {
    await database.close();
  }
}
