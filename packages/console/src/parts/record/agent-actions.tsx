import type { Agent, AgentCommandName } from '@signalbox/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { nameOfAgent } from '../../api/fleet-queries.ts';
import { callHub } from '../../api/hub-call.ts';
import { viewerReason } from '../form/action-button.tsx';
import { ReasonButton } from '../form/reason-button.tsx';

const workspace = getRouteApi('/w/$slug');

/** The commands that a person can send to an agent now. */
export function AgentActions({ agent }: { agent: Agent }) {
  const { membership, person } = workspace.useRouteContext();
  const send = useAgentCommand(agent);
  const { command, heldCount, status } = agent;
  const state = command?.state;
  const isStopping = state === 'stopping' || state === 'stopped';
  const asksStop = command?.command.startsWith('stop') === true && state === 'asked';
  const isHeldBack = command?.command === 'drain' || asksStop;
  const viewer = viewerReason(membership.role);
  const isOwn = agent.principalId === person.personId;
  const mayStop = isOwn || membership.role === 'owner' || membership.role === 'admin';
  const stopReason =
    viewer ??
    (mayStop ? undefined : 'Only an owner or admin may stop the agent of somebody else. Drain it.');
  const name = nameOfAgent(agent);
  const jobs = heldCount === 1 ? 'the job that it holds' : `the ${heldCount} jobs that it holds`;
  const finishes = heldCount === 0 ? '' : ` It finishes ${jobs} first.`;
  return (
    <div className="flex shrink-0 flex-wrap items-start gap-2">
      {isHeldBack && (
        <ReasonButton
          label={asksStop ? 'Take back' : 'Resume'}
          title={asksStop ? `Take the stop of ${name} back?` : `Resume ${name}?`}
          description="It gets jobs again."
          look="primary"
          disabledReason={viewer}
          onConfirm={() => send('resume')}
        />
      )}
      {!isHeldBack && !isStopping && (
        <ReasonButton
          label="Drain"
          title={`Drain ${name}?`}
          description={`It gets no more jobs, until somebody resumes it.${finishes} Its process stays.`}
          asksReason
          disabledReason={viewer}
          onConfirm={(reason) => send('drain', reason)}
        />
      )}
      {!isStopping && !asksStop && !hasLeft(agent) && (
        <ReasonButton
          label="Stop"
          title={`Stop ${name}?`}
          description={`Its process ends, and only its machine can start it again.${finishes}`}
          confirmLook="danger"
          asksReason
          disabledReason={stopReason}
          onConfirm={(reason) => send('stop', reason)}
        />
      )}
      {heldCount > 0 && status !== 'offline' && command?.command !== 'stop-now' && (
        <ReasonButton
          label="Stop now"
          title={`Stop ${name} now?`}
          description={`It gives ${jobs} back to the queue, where another agent may begin them again. Its process ends.`}
          confirmLook="danger"
          asksReason
          disabledReason={stopReason}
          onConfirm={(reason) => send('stop-now', reason)}
        />
      )}
    </div>
  );
}

/** Whether the agent has no process that a stop could reach, by its own report or for a day. */
function hasLeft({ status, lastSeenAt }: Agent): boolean {
  return status === 'offline' && Date.now() - Date.parse(lastSeenAt) > 86_400_000;
}

function useAgentCommand({ workspaceId, agentId }: Agent) {
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: (input: { command: AgentCommandName; reason?: string | undefined }) =>
      callHub('agents', 'command', {
        workspaceId,
        agentId,
        command: input.command,
        ...(input.reason !== undefined && { reason: input.reason }),
      }),
    onSettled: () => client.invalidateQueries({ queryKey: ['agents', workspaceId] }),
  });
  return (command: AgentCommandName, reason?: string) => act.mutateAsync({ command, reason });
}
