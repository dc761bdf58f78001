import type { endpoints, IdSource, RequestInput } from '@signalbox/contract';
import type { Database, Reader } from '../db/engine.ts';
import { HubError } from '../errors.ts';
import type { Principal } from '../principal.ts';
import type { ClaimWaiters } from '../queue/claim-waiters.ts';
import {
  hasTokenRepository,
  insertRepository,
  insertTokenRepository,
  type RepositoryRow,
  readRepository,
  readRepositoryByHash,
  updateRepository,
} from './store.ts';

type UpsertInput = RequestInput<typeof endpoints.repositories.upsert.request>;

export interface RepositoryDeps {
  database: Database;
  ids: IdSource;
  waiters: ClaimWaiters;
}

/** Finds a repository by hash; null is no error. Naming it makes this token's agents serve it. */
export async function resolveRepository(
  deps: RepositoryDeps,
  principal: Principal,
  workspaceId: string,
  remoteUrlHash: string,
): Promise<RepositoryRow | null> {
  const row = await readRepositoryByHash(deps.database.reader, workspaceId, remoteUrlHash);
  if (row === undefined) return null;
  await noteServed(deps, principal, row);
  return row;
}

/** @throws HubError REPO_NOT_FOUND */
export async function getRepository(
  deps: RepositoryDeps,
  principal: Principal,
  workspaceId: string,
  repoId: string,
): Promise<RepositoryRow> {
  const row = await requireRepository(deps.database.reader, workspaceId, repoId);
  await noteServed(deps, principal, row);
  return row;
}

/** Creates the record when the hash is unknown in the workspace, updates what is sent otherwise. */
export function upsertRepository(
  deps: RepositoryDeps,
  principal: Principal,
  input: UpsertInput,
): Promise<{ row: RepositoryRow; created: boolean }> {
  const { database, ids, waiters } = deps;
  const { workspaceId, remoteUrlHash } = input;
  return database.write(workspaceId, async (tx) => {
    const known = await readRepositoryByHash(tx, workspaceId, remoteUrlHash);
    const row: RepositoryRow = {
      workspace_id: workspaceId,
      repo_id: known?.repo_id ?? ids('repository'),
      remote_url_hash: remoteUrlHash,
      label: input.label ?? known?.label ?? '',
      status: input.status ?? known?.status ?? 'active',
      queue_paused_at: known?.queue_paused_at ?? null,
      created_at: known?.created_at ?? tx.nowMs,
      updated_at: tx.nowMs,
    };
    if (known === undefined) await insertRepository(database, tx, row);
    else await updateRepository(database, tx, row);
    await insertTokenRepository(tx, workspaceId, principal.tokenId, row.repo_id);
    tx.afterCommit(() => waiters.wakeWorkspace(workspaceId));
    return { row, created: known === undefined };
  });
}

/** @throws HubError REPO_NOT_FOUND, the same for unknown and foreign ids. */
export async function requireRepository(
  reader: Reader,
  workspaceId: string,
  repoId: string,
): Promise<RepositoryRow> {
  const row = await readRepository(reader, workspaceId, repoId);
  if (row === undefined) throw new HubError('REPO_NOT_FOUND');
  return row;
}

async function noteServed(
  { database, waiters }: RepositoryDeps,
  principal: Principal,
  row: RepositoryRow,
): Promise<void> {
  // People and the tools of jobs run no agents of their own.
  if (principal.kind === 'job' || principal.kind === 'person') return;
  const { workspace_id: workspaceId, repo_id: repoId } = row;
  const { tokenId } = principal;
  if (await hasTokenRepository(database.reader, workspaceId, tokenId, repoId)) return;
  await database.write(workspaceId, async (tx) => {
    const { added } = await insertTokenRepository(tx, workspaceId, tokenId, repoId);
    if (added) tx.afterCommit(() => waiters.wakeWorkspace(workspaceId));
  });
}
