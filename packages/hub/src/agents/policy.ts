import type { AgentCommandName } from '@signalbox/contract';
import type { Principal } from '../base/principal.ts';
import type { Role } from '../db/schema/tables.ts';

/** Whether the caller may send commands to agents: people may, programs may not. */
export function maySendCommands(principal: Principal): boolean {
  return principal.kind !== 'service' && principal.kind !== 'job';
}

/**
 * Whether a person may send a command to an agent. A stop ends a process that only its machine can
 * start again, so for the agent of another principal it takes an owner or admin.
 *
 * @param role null for the operator's own principals, which no person has.
 */
export function mayCommand(
  principal: Principal,
  role: Role | null,
  agent: { principal_id: string },
  command: AgentCommandName,
): boolean {
  if (command === 'drain' || command === 'resume') return true;
  if (agent.principal_id === principal.principalId || principal.personId === null) return true;
  return role === 'owner' || role === 'admin';
}
