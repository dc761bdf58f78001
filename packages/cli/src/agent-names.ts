import { ApiError } from '@signalbox/sdk';
import type { HubSession } from './hub-session.ts';
import { collectPages } from './pages.ts';
import { oneLine } from './text.ts';

/** Agents beyond this many are shown by their ids. */
const AGENTS_MAX = 1_000;

/** What the agents of a workspace call themselves. */
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
    // Names are a comfort. A token that may only enqueue has to do with ids.
    if (error instanceof ApiError) return new Map();
    throw error;
  }
}
