import type { Agent, AgentCommandName } from '@signalbox/contract';
import type { Command } from 'commander';
import { addHubOptions, addJsonOption, type HubOptions } from '../command-module.ts';
import { findAgentId } from '../find/agent-reference.ts';
import type { Io } from '../terminal/io.ts';
import { agentName } from '../words/agent-text.ts';
import { openHubSession } from './hub-session.ts';

export type AgentCommandOptions = HubOptions & { reason?: string };

/** Adds what all commands to agents have. */
export function describeAgentCommand(program: Command): Command {
  program.argument('<agent>', 'its name, its ID, or the end of its ID');
  return program;
}

export function addReasonOption(program: Command): void {
  program.option('--reason <text>', 'why; your team reads it');
  addJsonOption(program);
  addHubOptions(program);
}

/** Sends a command to an agent and prints what happens next. With `--json`: `{ok, agent}`. */
export async function sendAgentCommand(
  io: Io,
  name: string,
  command: AgentCommandName,
  options: AgentCommandOptions,
): Promise<void> {
  const session = await openHubSession(io, options);
  const { client, workspaceId } = session;
  const agentId = await findAgentId(session, name);
  const { reason } = options;
  const { agent } = await client.agents.command({ workspaceId, agentId, command, reason });
  if (io.json) return io.printJson({ ok: true, agent });
  io.print(`${io.styles.green('✔')} ${io.styles.bold(agentName(agent))}: ${outlook(agent)}`);
}

function outlook({ command, heldCount, status }: Agent): string {
  if (command === null || command.command === 'resume') return 'gets jobs again.';
  const jobs = heldCount === 1 ? 'the job that it holds' : `the ${heldCount} jobs that it holds`;
  const finishes = heldCount === 0 ? '' : ` It finishes ${jobs} first.`;
  const offline = status === 'offline' ? ' It is offline and learns of this when it reports.' : '';
  switch (command.command) {
    case 'drain':
      return `gets no more jobs until it is resumed.${finishes}${offline}`;
    case 'stop':
      return `gets no more jobs, and its process ends.${finishes}${offline}`;
    case 'stop-now':
      return `gives ${jobs} back to the queue, and its process ends.${offline}`;
  }
}
