import type { AgentCapabilities, AgentCommand } from '@signalbox/contract';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { countRunningOfAgent } from '../queue/store.ts';
import { requireLiveToken } from '../tokens/require-live-token.ts';
import { commandsToSend, isHeldBack } from './command-state.ts';
import { type AgentOwner, type AgentRow, lockAgent, touchAgent } from './store.ts';

/** How old `last_seen_at` may get before a claim renews it: a claim shows that the agent lives. */
const TOUCH_AFTER_MS = 10_000;

/**
 * Checks that an agent exists and that the principal may act for it: the principal that registered
 * it, or the tool that runs a job which this agent holds.
 *
 * @param agent as `readAgent` or `readAgentOwner` returned it.
 * @throws HubError AGENT_NOT_FOUND, for unknown agents and for those of others alike.
 */
export function requireAgent<Row extends AgentOwner>(
  agent: Row | undefined,
  principal: Principal,
): Row {
  const isOwn =
    principal.job === null
      ? agent?.principal_id === principal.principalId
      : agent?.agent_id === principal.job.agentId;
  if (agent === undefined || !isOwn) {
    throw new HubError(
      'AGENT_NOT_FOUND',
      'This token has no such agent in this workspace: send an agent heartbeat first.',
    );
  }
  return agent;
}

/**
 * Reads the agent that makes a claim, checks it and renews its presence. Locks its row, so that
 * concurrent claims of one agent on two hubs see each other's jobs. The claim may have waited since
 * its token was checked, so the token is checked again.
 *
 * @throws HubError AGENT_NOT_FOUND; TOKEN_INVALID, TOKEN_REVOKED, TOKEN_EXPIRED, NOT_ALLOWED
 */
export async function requireClaimant(
  tx: Tx,
  principal: Principal,
  { workspaceId, agentId }: { workspaceId: string; agentId: string },
): Promise<AgentRow> {
  // Sent together: one round trip on PostgreSQL.
  const [row] = await Promise.all([
    lockAgent(tx, workspaceId, agentId),
    requireLiveToken(tx, principal, 'agent'),
  ]);
  const agent = requireAgent(row, principal);
  const { tokenId } = principal;
  const hasNewToken = agent.token_id !== tokenId;
  if (hasNewToken || tx.nowMs - agent.last_seen_at > TOUCH_AFTER_MS) {
    await touchAgent(tx, workspaceId, agentId, tokenId);
  }
  return hasNewToken ? { ...agent, token_id: tokenId } : agent;
}

export interface AgentRefusal {
  refusal: { reason: 'agent_draining' | 'agent_at_capacity'; commands?: AgentCommand[] };
  /** A command that the agent does not know yet: a claim that waits is answered with it. */
  endsWait?: boolean;
}

/** Why an agent may get no job from any queue now; null if it may. */
export async function findAgentRefusal(
  tx: Tx,
  agent: AgentRow,
  { maxConcurrentJobs }: AgentCapabilities,
): Promise<AgentRefusal | null> {
  // An agent that reported itself offline gets no jobs, like a draining one. Silence does not
  // count as offline here: the claim itself shows that the agent is alive.
  if (agent.status !== 'online' || isHeldBack(agent, tx.nowMs)) {
    const isKnown = agent.command_acknowledged_at !== null;
    const commands = isKnown ? [] : commandsToSend(agent, undefined, tx.nowMs);
    const reason = 'agent_draining';
    return commands.length === 0
      ? { refusal: { reason } }
      : { refusal: { reason, commands }, endsWait: true };
  }
  if (maxConcurrentJobs === undefined) return null;
  const running = await countRunningOfAgent(tx, agent.workspace_id, agent.agent_id);
  return running >= maxConcurrentJobs ? { refusal: { reason: 'agent_at_capacity' } } : null;
}
