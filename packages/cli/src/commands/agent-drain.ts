import { defineAgentCommand } from '../hub/send-agent-command.ts';

/** `signalbox agent drain AGENT`: the agent finishes its jobs and gets no more until `resume`. */
export const command = defineAgentCommand(() => 'drain', {
  examples: [['signalbox agent drain build-7 --reason "New memory"', 'by its name']],
});
