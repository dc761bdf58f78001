import type { AgentCapabilities } from '@signalbox/contract';
import type { Tx } from '../db/engine.ts';
import type { Principal } from '../principal.ts';
import { countRunningOfAgent } from '../queue/queue-store.ts';
import { requireAgent } from './heartbeat.ts';
import { type AgentRow, touchAgent } from './store.ts';

/** How stale `last_seen_at` may get before a claim renews it: a claim, too, is a sign of life. */
const TOUCH_AFTER_MS = 10_000;

/**
 * The agent that makes a claim, which is a sign of life.
 * @throws HubError AGENT_NOT_FOUND
 */
export async function requireClaimant(
  tx: Tx,
  principal: Principal,
  { workspaceId, agentId }: { workspaceId: string; agentId: string },
): Promise<AgentRow> {
  // Locked, so that claims of one agent through two hubs see each other's.
  const agent = await requireAgent(tx, principal, workspaceId, agentId, tx.rowLock);
  if (tx.nowMs - agent.last_seen_at > TOUCH_AFTER_MS) await touchAgent(tx, workspaceId, agentId);
  return agent;
}

/** Why an agent may be given nothing at all now, from whichever queue; null when it may. */
export async function findAgentRefusal(
  tx: Tx,
  agent: AgentRow,
  { maxConcurrentJobs: most }: AgentCapabilities,
): Promise<'agent_draining' | 'agent_at_capacity' | null> {
  // An agent that says it is offline takes no more jobs, like one that drains. Silence does not
  // count: the claim itself is a sign of life.
  if (agent.status !== 'online') return 'agent_draining';
  if (most === undefined) return null;
  const running = await countRunningOfAgent(tx, agent.workspace_id, agent.agent_id);
  return running >= most ? 'agent_at_capacity' : null;
}
