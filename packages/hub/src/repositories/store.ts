import type { Database, Reader, Tx } from '../db/engine.ts';
import type { RepositoriesTable } from '../db/schema/tables.ts';

export type RepositoryRow = RepositoriesTable;

export function readRepository(
  reader: Reader,
  workspaceId: string,
  repoId: string,
): Promise<RepositoryRow | undefined> {
  return reader.firstSql<RepositoryRow>(
    'SELECT * FROM repositories WHERE workspace_id = ? AND repo_id = ?',
    [workspaceId, repoId],
  );
}

export function readRepositoryByHash(
  reader: Reader,
  workspaceId: string,
  remoteUrlHash: string,
): Promise<RepositoryRow | undefined> {
  return reader.firstSql<RepositoryRow>(
    'SELECT * FROM repositories WHERE workspace_id = ? AND remote_url_hash = ?',
    [workspaceId, remoteUrlHash],
  );
}

export async function insertRepository(
  database: Database,
  tx: Tx,
  row: RepositoryRow,
): Promise<void> {
  await tx.run(database.build.insertInto('repositories').values(row));
}

export async function updateRepository(
  database: Database,
  tx: Tx,
  row: RepositoryRow,
): Promise<void> {
  await tx.run(
    database.build
      .updateTable('repositories')
      .set({
        label: row.label,
        status: row.status,
        queue_paused_at: row.queue_paused_at,
        updated_at: row.updated_at,
      })
      .where('workspace_id', '=', row.workspace_id)
      .where('repo_id', '=', row.repo_id),
  );
}

/** Newest first; one more than `limit`, so that the caller sees if there is a next page. */
export function listRepositories(
  database: Database,
  workspaceId: string,
  page: { limit: number; before: string | null },
): Promise<RepositoryRow[]> {
  let query = database.build
    .selectFrom('repositories')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('repo_id', 'desc')
    .limit(page.limit + 1);
  if (page.before !== null) query = query.where('repo_id', '<', page.before);
  return database.reader.all(query);
}

/** Records that a token has named a repository: its agents serve it by default. */
export async function insertTokenRepository(
  tx: Tx,
  workspaceId: string,
  tokenId: string,
  repoId: string,
): Promise<{ added: boolean }> {
  const { changes } = await tx.runSql(
    `INSERT INTO token_repositories (workspace_id, token_id, repo_id) VALUES (?, ?, ?)
     ON CONFLICT DO NOTHING`,
    [workspaceId, tokenId, repoId],
  );
  return { added: changes > 0 };
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

/** The repositories that an agent serves: those it lists, or else those its token has named. */
export function listServedRepositories(
  reader: Reader,
  workspaceId: string,
  agent: { tokenId: string; reposAllowed: readonly string[] | undefined },
): Promise<RepositoryRow[]> {
  return agent.reposAllowed === undefined
    ? reader.allSql<RepositoryRow>(
        `SELECT r.* FROM token_repositories t
         JOIN repositories r ON r.workspace_id = t.workspace_id AND r.repo_id = t.repo_id
         WHERE t.workspace_id = ? AND t.token_id = ?`,
        [workspaceId, agent.tokenId],
      )
    : reader.allSql<RepositoryRow>(
        `SELECT * FROM repositories WHERE workspace_id = ?
           AND repo_id IN (SELECT value FROM json_each(?))`,
        [workspaceId, JSON.stringify(agent.reposAllowed)],
      );
}
