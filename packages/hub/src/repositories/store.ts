import { conditions } from '../db/conditions.ts';
import type { KeptRead, Reader, Tx } from '../db/engine.ts';
import { allKept, firstKept } from '../db/kept-reads.ts';
import { insertNewRow, updateRows } from '../db/row-write.ts';
import { allColumns, columnsOf } from '../db/schema/columns.ts';
import type { RepositoriesTable, TokenRepositoriesTable } from '../db/schema/tables.ts';

export type RepositoryRow = RepositoriesTable;

const repositoryById: KeptRead = {
  sql: `SELECT ${allColumns.repositories} FROM repositories WHERE workspace_id = ? AND repo_id = ?`,
  sources: ['repositories'],
};

export function readRepository(
  reader: Reader,
  workspaceId: string,
  repoId: string,
): Promise<Readonly<RepositoryRow> | undefined> {
  return firstKept<RepositoryRow>(reader, repositoryById, [workspaceId, repoId]);
}

export function readRepositoryByHash(
  reader: Reader,
  workspaceId: string,
  remoteUrlHash: string,
): Promise<RepositoryRow | undefined> {
  return reader.firstSql<RepositoryRow>(
    `SELECT ${allColumns.repositories} FROM repositories WHERE workspace_id = ? AND remote_url_hash = ?`,
    [workspaceId, remoteUrlHash],
  );
}

/** Writes some columns of a repository. */
export async function updateRepository(
  tx: Tx,
  { workspace_id, repo_id }: Pick<RepositoryRow, 'workspace_id' | 'repo_id'>,
  changes: Partial<RepositoryRow>,
): Promise<void> {
  await updateRows(tx, 'repositories', { workspace_id, repo_id }, changes);
}

const repositoriesById: KeptRead = {
  sql: `SELECT ${allColumns.repositories} FROM repositories WHERE workspace_id = ?
    AND repo_id IN (SELECT value FROM json_each(?))`,
  sources: ['repositories'],
};

/** Repositories by their ids, in no particular order. */
export function listRepositoriesById(
  reader: Reader,
  workspaceId: string,
  repoIds: readonly string[],
): Promise<readonly RepositoryRow[]> {
  return allKept<RepositoryRow>(reader, repositoriesById, [workspaceId, JSON.stringify(repoIds)]);
}

/** Which of some repositories each of some tokens has named. */
export function listNamedRepositories(
  reader: Reader,
  workspaceId: string,
  tokenIds: readonly string[],
  repoIds: readonly string[],
): Promise<{ token_id: string; repo_id: string }[]> {
  return reader.allSql(
    `SELECT t.token_id, t.repo_id FROM json_each(?) AS asked
     JOIN token_repositories t ON t.workspace_id = ? AND t.token_id = asked.value
     WHERE t.repo_id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(tokenIds), workspaceId, JSON.stringify(repoIds)],
  );
}

/** The paused repositories of a workspace, the latest pause first. */
export function listPausedRepositories(
  reader: Reader,
  workspaceId: string,
  limit: number,
): Promise<RepositoryRow[]> {
  return reader.allSql<RepositoryRow>(
    `SELECT ${allColumns.repositories} FROM repositories WHERE workspace_id = ? AND queue_paused_at IS NOT NULL
     ORDER BY queue_paused_at DESC, repo_id DESC LIMIT ?`,
    [workspaceId, limit],
  );
}

/** Newest first; one more than `limit`, so that the caller sees if there is a next page. */
export function listRepositories(
  reader: Reader,
  workspaceId: string,
  page: { limit: number; before: string | null },
): Promise<RepositoryRow[]> {
  const { sql, values } = conditions([
    ['workspace_id = ?', workspaceId],
    ['repo_id < ?', page.before],
  ]);
  return reader.allSql(
    `SELECT ${allColumns.repositories} FROM repositories WHERE ${sql}
     ORDER BY repo_id DESC LIMIT ?`,
    [...values, page.limit + 1],
  );
}

/** Records that a token has named a repository: its agents serve it by default. */
export async function insertTokenRepository(
  tx: Tx,
  workspaceId: string,
  tokenId: string,
  repoId: string,
): Promise<{ added: boolean }> {
  const added = await insertNewRow(
    tx,
    'token_repositories',
    { workspace_id: workspaceId, token_id: tokenId, repo_id: repoId },
    ['workspace_id', 'token_id', 'repo_id'],
  );
  return { added };
}

export async function hasTokenRepository(
  reader: Reader,
  workspaceId: string,
  tokenId: string,
  repoId: string,
): Promise<boolean> {
  const row = await reader.firstSql(
    `SELECT 1 FROM token_repositories
     WHERE workspace_id = ? AND token_id = ? AND repo_id = ?`,
    [workspaceId, tokenId, repoId],
  );
  return row !== undefined;
}

/** The repositories that some tokens have named. */
export function listTokenRepositories(
  reader: Reader,
  workspaceId: string,
  tokenIds: readonly string[],
): Promise<TokenRepositoriesTable[]> {
  return reader.allSql<TokenRepositoriesTable>(
    `SELECT ${allColumns.token_repositories} FROM token_repositories
     WHERE workspace_id = ? AND token_id IN (SELECT value FROM json_each(?)) ORDER BY repo_id`,
    [workspaceId, JSON.stringify(tokenIds)],
  );
}

/** The tokens that have named a repository. */
export async function listTokensOfRepository(
  reader: Reader,
  workspaceId: string,
  repoId: string,
): Promise<string[]> {
  const rows = await reader.allSql<{ token_id: string }>(
    'SELECT token_id FROM token_repositories WHERE workspace_id = ? AND repo_id = ?',
    [workspaceId, repoId],
  );
  return rows.map((row) => row.token_id);
}

const repositoriesOfToken: KeptRead = {
  sql: `SELECT ${columnsOf('r', 'repositories')} FROM token_repositories t
    JOIN repositories r ON r.workspace_id = t.workspace_id AND r.repo_id = t.repo_id
    WHERE t.workspace_id = ? AND t.token_id = ?`,
  sources: ['token_repositories', 'repositories'],
};

/** The repositories that an agent serves: those it lists, or else those its token has named. */
export function listServedRepositories(
  reader: Reader,
  workspaceId: string,
  agent: { tokenId: string; reposAllowed: readonly string[] | undefined },
): Promise<readonly RepositoryRow[]> {
  return agent.reposAllowed === undefined
    ? allKept<RepositoryRow>(reader, repositoriesOfToken, [workspaceId, agent.tokenId])
    : listRepositoriesById(reader, workspaceId, agent.reposAllowed);
}
