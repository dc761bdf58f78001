import { ApiError } from '@signalbox/sdk';
import type { HubSession } from '../hub/hub-session.ts';
import { collectPages, type Page, type PageRequest } from '../terminal/pages.ts';
import { oneLine } from '../terminal/text.ts';

/** Beyond this limit agents and repositories are shown by their IDs. */
const NAMES_MAX = 1_000;

/** Reads the display names of the agents of a workspace, by agent ID. */
export function readAgentNames({
  client,
  workspaceId,
}: HubSession): Promise<ReadonlyMap<string, string>> {
  return readNames(async (page) => {
    const { agents, nextCursor } = await client.agents.list({ workspaceId, ...page });
    return { rows: agents.map(({ agentId, displayName }) => [agentId, displayName]), nextCursor };
  });
}

/** Reads the labels of the repositories of a workspace, by repository ID. */
export function readRepositoryLabels({
  client,
  workspaceId,
}: HubSession): Promise<ReadonlyMap<string, string>> {
  return readNames(async (page) => {
    const { repos, nextCursor } = await client.repositories.list({ workspaceId, ...page });
    return { rows: repos.map(({ repoId, label }) => [repoId, label]), nextCursor };
  });
}

async function readNames(
  readPage: (page: PageRequest) => Promise<Page<readonly [id: string, name: string]>>,
): Promise<ReadonlyMap<string, string>> {
  try {
    const { rows } = await collectPages(NAMES_MAX, readPage);
    const named = rows.map(([id, name]) => [id, oneLine(name)] as const);
    return new Map(named.filter(([, name]) => name !== ''));
  } catch (error) {
    // Names are optional. A token without the read scope shows IDs instead.
    if (error instanceof ApiError) return new Map();
    throw error;
  }
}
