import { addExamples, defineCommand } from '../command-module.ts';
import {
  type AgentCommandOptions,
  addReasonOption,
  describeAgentCommand,
  sendAgentCommand,
} from '../hub/send-agent-command.ts';

/** `signalbox agent resume AGENT`: ends a drain, or takes back a stop that was not received. */
export const command = defineCommand<AgentCommandOptions>({
  describe(program) {
    addReasonOption(describeAgentCommand(program));
    addExamples(program, [['signalbox agent resume build-7', 'by its name']]);
  },

  async run({ io, args, options }) {
    await sendAgentCommand(io, args[0] ?? '', 'resume', options);
    return undefined;
  },
});
