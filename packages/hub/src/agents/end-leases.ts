import { appendAudit } from '../audit/append.ts';
import { recoverLeases } from '../queue/leased-work.ts';
import { listRunningOfAgent } from '../queue/store.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { type EndedAgent, listEndedAgents, readEndedAgent } from './store-ended-tokens.ts';

/** Agents handled in one piece, and leases recovered in one transaction. */
export const AGENTS_MAX = 100;
const LEASES_MAX = 500;
/** The actor of what the hub does by itself. */
const HUB = 'hub';

/**
 * Recovers the leases of agents whose token was revoked or has expired, or whose person may run no
 * agents any more. It goes by the rows, not by the acts that changed them, so no act is missed.
 *
 * @returns how many agents lost leases.
 */
export async function endLeasesOfEndedTokens(deps: HubDeps): Promise<number> {
  const { database, clock } = deps;
  const ended = await listEndedAgents(database.reader, clock.nowMs(), AGENTS_MAX);
  let count = 0;
  for (const agent of ended) count += (await endLeases(deps, agent)) ? 1 : 0;
  return count;
}

function endLeases(deps: HubDeps, { workspace_id, agent_id }: EndedAgent): Promise<boolean> {
  return deps.database.write(workspace_id, async (tx) => {
    const agent = await readEndedAgent(tx, tx.nowMs, { workspace_id, agent_id });
    if (agent === undefined) return false;
    const held = await listRunningOfAgent(tx, workspace_id, agent_id, LEASES_MAX);
    if (held.length === 0) return false;
    const cause = causeOf(agent, tx.nowMs);
    await recoverLeases(deps, tx, held, {
      message: messages[cause],
      data: { tokenId: agent.token_id },
    });
    await appendAudit(tx, {
      workspaceId: workspace_id,
      actor: HUB,
      action: 'agent.end-leases',
      subject: agent_id,
      data: { tokenId: agent.token_id, cause, jobIds: held.map((entry) => entry.entry_id) },
    });
    return true;
  });
}

type EndCause = 'TOKEN_REVOKED' | 'TOKEN_EXPIRED' | 'MEMBERSHIP_CHANGED';

const messages: Record<EndCause, string> = {
  TOKEN_REVOKED: 'The token of the agent was revoked.',
  TOKEN_EXPIRED: 'The token of the agent has expired.',
  MEMBERSHIP_CHANGED: 'The token of the agent gives no access to jobs any more.',
};

function causeOf({ revoked_at, expires_at }: EndedAgent, nowMs: number): EndCause {
  if (revoked_at !== null) return 'TOKEN_REVOKED';
  return expires_at <= nowMs ? 'TOKEN_EXPIRED' : 'MEMBERSHIP_CHANGED';
}
