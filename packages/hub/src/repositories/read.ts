import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Reader } from '../db/engine.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import {
  hasTokenRepository,
  insertTokenRepository,
  type RepositoryRow,
  readRepository,
  readRepositoryByHash,
} from './store.ts';

type ReadDeps = Pick<HubDeps, 'database' | 'waiters'>;

/**
 * Reads a repository by the hash of its remote URL; null if it is unknown. The agents of the
 * caller's token serve it from then on.
 */
export async function resolveRepository(
  deps: ReadDeps,
  principal: Principal,
  workspaceId: string,
  remoteUrlHash: string,
): Promise<RepositoryRow | null> {
  const row = await readRepositoryByHash(deps.database.reader, workspaceId, remoteUrlHash);
  if (row === undefined) return null;
  await recordServed(deps, principal, row);
  return row;
}

/**
 * Reads a repository by id. The agents of the caller's token serve it from then on.
 * @throws HubError REPO_NOT_FOUND
 */
export async function getRepository(
  deps: ReadDeps,
  principal: Principal,
  workspaceId: string,
  repoId: string,
): Promise<RepositoryRow> {
  const row = await requireRepository(deps.database.reader, workspaceId, repoId);
  await recordServed(deps, principal, row);
  return row;
}

/** @throws HubError REPO_NOT_FOUND, for unknown ids and for those of other workspaces. */
export async function requireRepository(
  reader: Reader,
  workspaceId: string,
  repoId: string,
): Promise<RepositoryRow> {
  const row = await readRepository(reader, workspaceId, repoId);
  if (row === undefined) throw new HubError('REPO_NOT_FOUND');
  return row;
}

/** Records that the agents of a token serve a repository, and wakes their waiting claims. */
async function recordServed(
  { database, waiters }: ReadDeps,
  principal: Principal,
  row: RepositoryRow,
): Promise<void> {
  // People and the tools of jobs do not run agents.
  if (principal.kind === 'job' || principal.kind === 'person') return;
  const { workspace_id: workspaceId, repo_id: repoId } = row;
  const { tokenId } = principal;
  if (await hasTokenRepository(database.reader, workspaceId, tokenId, repoId)) return;
  await database.write(workspaceId, async (tx) => {
    const { added } = await insertTokenRepository(tx, workspaceId, tokenId, repoId);
    if (added) tx.afterCommit(() => waiters.wakeWorkspace(workspaceId));
  });
}
