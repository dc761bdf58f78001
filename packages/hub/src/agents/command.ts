import type { Agent, AgentCommandName, endpoints, RequestInput } from '@signalbox/contract';
import { readRole } from '../access/store.ts';
import { appendAudit } from '../audit/append.ts';
import { HubError } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import type { Tx } from '../db/engine.ts';
import { commandInForce, commandStateOf, isStop } from './command-state.ts';
import { mayCommand, maySendCommands } from './policy.ts';
import { agentStatusAt } from './present.ts';
import { type AgentReadDeps, describeAgent } from './read.ts';
import { type AgentRow, lockAgent, updateCommand } from './store.ts';

type CommandInput = RequestInput<typeof endpoints.agents.command.request>;

/**
 * Keeps a command of a person for an agent, in place of the last one, and wakes the claim with
 * which the agent waits. A command that is in force already changes nothing.
 *
 * @throws HubError AGENT_NOT_FOUND, NOT_ALLOWED, AGENT_STOPPING
 */
export function commandAgent(
  deps: AgentReadDeps,
  principal: Principal,
  { workspaceId, agentId, command, reason }: CommandInput,
): Promise<Agent> {
  if (!maySendCommands(principal)) {
    throw new HubError('NOT_ALLOWED', 'Only a person may drain, resume or stop an agent.');
  }
  return deps.database.write(workspaceId, async (tx) => {
    const row = await lockAgent(tx, workspaceId, agentId);
    if (row === undefined)
      throw new HubError('AGENT_NOT_FOUND', 'No such agent in this workspace.');
    await requireMayCommand(tx, principal, row, command);
    requireObeyable(row, command, tx.nowMs);
    if (!changesNothing(row, command, tx.nowMs)) {
      await updateCommand(tx, row, {
        command,
        command_number: row.command_number + 1,
        command_reason: reason ?? null,
        command_by: principal.principalId,
        command_by_name: principal.displayName,
        command_asked_at: tx.nowMs,
      });
      await appendAudit(tx, {
        workspaceId,
        actor: principal.principalId,
        action: `agent.${command}`,
        subject: agentId,
        data: reason === undefined ? {} : { reason },
      });
      tx.afterCommit(() => deps.waiters.wakeAgent(workspaceId, agentId));
    }
    return describeAgent(deps, tx, workspaceId, agentId, tx.nowMs);
  });
}

async function requireMayCommand(
  tx: Tx,
  principal: Principal,
  row: AgentRow,
  command: AgentCommandName,
): Promise<void> {
  const { personId } = principal;
  const role = personId === null ? null : await readRole(tx, personId, row.workspace_id);
  if (mayCommand(principal, role, row, command)) return;
  throw new HubError(
    'NOT_ALLOWED',
    'Only an owner or admin may stop the agent of somebody else. You may drain it.',
  );
}

/** @throws HubError AGENT_STOPPING if the process can no longer obey the command. */
function requireObeyable(row: AgentRow, command: AgentCommandName, nowMs: number): void {
  const hasLeft = row.status === 'offline';
  if (isStop(command)) {
    if (!hasLeft) return;
    throw new HubError('AGENT_STOPPING', 'The agent has stopped: it has no process to end.');
  }
  if (!isStop(row.command) || row.command_acknowledged_at === null) return;
  const status = agentStatusAt(row, nowMs);
  const state = commandStateOf(row, { status, held: 0, nowMs });
  // The drain of a stopped agent is for its next process.
  if (state === 'stopped' && command === 'drain') return;
  throw new HubError('AGENT_STOPPING');
}

function changesNothing(row: AgentRow, command: AgentCommandName, nowMs: number): boolean {
  const inForce = commandInForce(row, nowMs);
  if (inForce === command) return true;
  return command === 'resume' && inForce === null && row.status !== 'draining';
}
