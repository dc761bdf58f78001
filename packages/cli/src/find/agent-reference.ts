import type { HubSession } from '../hub/hub-session.ts';
import { collectPages } from '../terminal/pages.ts';
import { findIdByName } from './id-reference.ts';

const agentId = {
  prefix: 'agt',
  name: 'agent',
  code: 'AGENT',
  named: 'No agent of the workspace has the name or ID',
  fix: 'List agents: signalbox agents',
};
/** Names and short IDs are searched among this number of latest agents. */
const SEARCHED_AGENTS_MAX = 2_000;

/**
 * Resolves the name of an agent, its ID, or the end of its ID to its ID. An agent that is not
 * offline is preferred, because machines that were replaced may have left agents of the same name.
 * @throws {CliError} AGENT_NOT_FOUND, AGENT_AMBIGUOUS.
 */
export async function findAgentId(
  { client, workspaceId }: HubSession,
  text: string,
): Promise<string> {
  return await findIdByName(agentId, text, async () => {
    const { rows } = await collectPages(SEARCHED_AGENTS_MAX, 'agents', (page) =>
      client.agents.list({ workspaceId, ...page }),
    );
    return rows.map(({ agentId: id, displayName: name, status }) => ({
      id,
      name,
      isPast: status === 'offline',
    }));
  });
}
