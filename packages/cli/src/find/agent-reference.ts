import type { Agent } from '@signalbox/contract';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { HubSession } from '../hub/hub-session.ts';
import { collectPages } from '../terminal/pages.ts';
import { oneLine } from '../terminal/text.ts';

const fullId = /^agt_[0-9a-z]{26,}$/;
/** Names and short IDs are searched among this number of latest agents. */
const SEARCHED_AGENTS_MAX = 2_000;
/** Shorter endings would soon be ambiguous. */
const SHORT_CHARS_MIN = 4;

/**
 * Resolves the name of an agent, its ID, or the end of its ID to its ID. An agent that is not
 * offline is preferred, because machines that were replaced may have left agents of the same name.
 * @throws {CliError} AGENT_NOT_FOUND, AGENT_AMBIGUOUS.
 */
export async function findAgentId(
  { client, workspaceId }: HubSession,
  text: string,
): Promise<string> {
  if (fullId.test(text)) return text;
  const { rows } = await collectPages(SEARCHED_AGENTS_MAX, async (page) => {
    const { agents, nextCursor } = await client.agents.list({ workspaceId, ...page });
    return { rows: agents, nextCursor };
  });
  const matching = matchesOf(rows, text);
  const present = matching.filter(({ status }) => status !== 'offline');
  const [first, ...others] = present.length > 0 ? present : matching;
  if (first === undefined) throw notFound(text);
  if (others.length === 0) return first.agentId;
  const ids = [first, ...others].map(({ agentId }) => agentId).join(', ');
  const message = `Several agents match "${oneLine(text).slice(0, 60)}": ${ids}.`;
  throw new CliError(exitCodes.usage, 'AGENT_AMBIGUOUS', message, { fix: 'Give the whole ID.' });
}

function matchesOf(agents: readonly Agent[], text: string): Agent[] {
  const named = agents.filter(({ displayName }) => displayName === text);
  if (named.length > 0 || text.length < SHORT_CHARS_MIN) return named;
  return agents.filter(({ agentId }) => agentId.endsWith(text.toLowerCase()));
}

function notFound(text: string): CliError {
  const shown = oneLine(text).slice(0, 60);
  return new CliError(
    exitCodes.refused,
    'AGENT_NOT_FOUND',
    `No agent of the workspace has the name or ID "${shown}".`,
    { fix: 'List agents: signalbox agents' },
  );
}
