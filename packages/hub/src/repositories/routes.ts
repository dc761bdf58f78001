import { endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, pageOf } from '../http/paging.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { presentRepository } from './present.ts';
import { getRepository, resolveRepository } from './read.ts';
import { listRepositories } from './store.ts';
import { upsertRepository } from './upsert.ts';

export function bindRepositoryRoutes(
  api: Api,
  deps: Pick<HubDeps, 'database' | 'ids' | 'waiters'>,
): void {
  const { repositories } = endpoints;
  api.bind(repositories.resolve, async (input, { principal }) => {
    const { workspaceId, remoteUrlHash } = input;
    const row = await resolveRepository(deps, principal, workspaceId, remoteUrlHash);
    return row === null
      ? { repoId: null, repo: null }
      : { repoId: row.repo_id, repo: presentRepository(row) };
  });
  api.bind(repositories.get, async (input, { principal }) => {
    const row = await getRepository(deps, principal, input.workspaceId, input.repoId);
    return { repo: presentRepository(row) };
  });
  api.bind(repositories.upsert, async (input, { principal }) => {
    const { row, created } = await upsertRepository(deps, principal, input);
    return { repoId: row.repo_id, repo: presentRepository(row), created };
  });
  api.bind(repositories.list, async (input) => {
    const before = decodeCursor(input.cursor, 'repository');
    const rows = await listRepositories(deps.database.reader, input.workspaceId, {
      limit: input.limit,
      before,
    });
    const page = pageOf(rows, input.limit, (row) => row.repo_id);
    return { repos: page.items.map(presentRepository), nextCursor: page.nextCursor };
  });
}
