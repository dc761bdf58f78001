import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { repositoriesQuery } from '../../api/job-queries.ts';

/** The labels of repositories by ID. If one is missing, they are read once more. */
export function useRepositoryLabels(
  workspaceId: string,
  repoIds: readonly string[],
): ReadonlyMap<string, string> {
  const client = useQueryClient();
  const { data } = useQuery(repositoriesQuery(workspaceId));
  const labels = new Map(data?.repos.map((repo) => [repo.repoId, repo.label]));
  const unknown = data ? repoIds.filter((repoId) => !labels.has(repoId)) : [];
  const missing = [...new Set(unknown)].sort().join(' ');
  useEffect(() => {
    if (missing === '') return;
    void client.invalidateQueries({ ...repositoriesQuery(workspaceId), exact: true });
  }, [client, workspaceId, missing]);
  return labels;
}
