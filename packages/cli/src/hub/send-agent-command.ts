import type { Agent, AgentCommandName } from '@signalbox/contract';
import type { CommandModule, CommandParts } from '../command-module.ts';
import { findAgentId } from '../find/agent-reference.ts';
import { agentName } from '../words/agent-text.ts';
import { defineHubCommand } from './hub-command.ts';

interface Options {
  reason?: string;
  now?: true;
}

/**
 * Defines a command that is sent to an agent, with a reason that the team reads. It prints what
 * happens next. With `--json`: `{ok, agent}`.
 */
export function defineAgentCommand(
  choose: (options: Options) => AgentCommandName,
  { describe, ...parts }: CommandParts,
): CommandModule {
  return defineHubCommand<Options>({
    ...parts,
    describe(program) {
      program.argument('<agent>', 'its name, its ID, or the end of its ID');
      describe?.(program);
      program.option('--reason <text>', 'why; your team reads it');
    },
    async run({ io, args, options, session, client, workspaceId }) {
      const agentId = await findAgentId(session, args[0] ?? '');
      const { reason } = options;
      const command = choose(options);
      const { agent } = await client.agents.command({ workspaceId, agentId, command, reason });
      if (io.json) return io.printJson({ ok: true, agent });
      io.print(`${io.styles.green('✔')} ${io.styles.bold(agentName(agent))}: ${outlook(agent)}`);
    },
  });
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
