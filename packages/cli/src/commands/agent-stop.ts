import { addExamples, defineCommand } from '../command-module.ts';
import {
  type AgentCommandOptions,
  addReasonOption,
  describeAgentCommand,
  sendAgentCommand,
} from '../hub/send-agent-command.ts';

/** `signalbox agent stop AGENT`: its process ends after its jobs, or with `--now` at once. */
export const command = defineCommand<AgentCommandOptions & { now?: true }>({
  describe(program) {
    describeAgentCommand(program).option('--now', 'give its jobs back to the queue, and end');
    addReasonOption(program);
    addExamples(program, [
      ['signalbox agent stop build-7', 'after the jobs that it holds'],
      ['signalbox agent stop build-7 --now', 'now; another agent begins its jobs again'],
    ]);
  },

  async run({ io, args, options }) {
    await sendAgentCommand(io, args[0] ?? '', options.now ? 'stop-now' : 'stop', options);
    return undefined;
  },
});
