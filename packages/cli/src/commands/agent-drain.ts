import { addExamples, defineCommand } from '../command-module.ts';
import {
  type AgentCommandOptions,
  addReasonOption,
  describeAgentCommand,
  sendAgentCommand,
} from '../hub/send-agent-command.ts';

/** `signalbox agent drain AGENT`: the agent finishes its jobs and gets no more until `resume`. */
export const command = defineCommand<AgentCommandOptions>({
  describe(program) {
    addReasonOption(describeAgentCommand(program));
    addExamples(program, [['signalbox agent drain build-7 --reason "New memory"', 'by its name']]);
  },

  async run({ io, args, options }) {
    await sendAgentCommand(io, args[0] ?? '', 'drain', options);
    return undefined;
  },
});
