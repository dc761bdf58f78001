import { ApiError } from '@signalbox/sdk';
import type { HubSession } from './hub-session.ts';
import { collectPages } from './pages.ts';
import { oneLine } from './text.ts';

/** Beyond this limit agents are shown by their IDs. */
const AGENTS_MAX = 1_000;

/** Reads the display names of the agents of a workspace, by agent ID. */
export async function readAgentNames(
  { client, workspaceId }: HubSession,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  try {
    const { rows } = await collectPages(AGENTS_MAX, async (page) => {
      const { agents, nextCursor } = await client.agents.list({ workspaceId, ...page }, { signal });
      return { rows: agents, nextCursor };
    });
    const named = rows.filter(({ displayName }) => displayName !== '');
    return new Map(named.map(({ agentId, displayName }) => [agentId, oneLine(displayName)]));
  } catch (error) {
    // Names are optional. A token without the read scope shows IDs instead.
    if (error instanceof ApiError) return new Map();
    throw error;
  }
}
