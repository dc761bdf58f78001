import type { Principal } from '../principal.ts';
import type { AgentRow } from './store.ts';

/**
 * Whether a principal may speak for an agent: the one that registered it, or the tool that runs a
 * job which this agent holds.
 */
export function mayActAs(principal: Principal, agent: AgentRow): boolean {
  return principal.job === null
    ? agent.principal_id === principal.principalId
    : principal.job.agentId === agent.agent_id;
}
