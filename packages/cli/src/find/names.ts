import { ApiError } from '@signalbox/sdk';
import type { HubSession } from '../hub/hub-session.ts';
import { collectPages } from '../terminal/pages.ts';
import { oneLine } from '../terminal/text.ts';

/** Beyond this limit agents and repositories are shown by their IDs. */
const NAMES_MAX = 1_000;

/** Reads the display names of the agents of a workspace, by agent ID. */
export function readAgentNames({ client, workspaceId }: HubSession) {
  return readNames(async () => {
    const { rows } = await collectPages(NAMES_MAX, 'agents', (page) =>
      client.agents.list({ workspaceId, ...page }),
    );
    return rows.map(({ agentId, displayName }) => [agentId, displayName]);
  });
}

/** Reads the labels of the repositories of a workspace, by repository ID. */
export function readRepositoryLabels({ client, workspaceId }: HubSession) {
  return readNames(async () => {
    const { rows } = await collectPages(NAMES_MAX, 'repos', (page) =>
      client.repositories.list({ workspaceId, ...page }),
    );
    return rows.map(({ repoId, label }) => [repoId, label]);
  });
}

async function readNames(
  read: () => Promise<(readonly [id: string, name: string])[]>,
): Promise<ReadonlyMap<string, string>> {
  try {
    const named = (await read()).map(([id, name]) => [id, oneLine(name)] as const);
    return new Map(named.filter(([, name]) => name !== ''));
  } catch (error) {
    // Names are optional. A token without the read scope shows IDs instead.
    if (error instanceof ApiError) return new Map();
    throw error;
  }
}
