import { defineAgentCommand } from '../hub/send-agent-command.ts';

/** `signalbox agent resume AGENT`: ends a drain, or takes back a stop that was not received. */
export const command = defineAgentCommand(() => 'resume', {
  examples: [['signalbox agent resume build-7', 'by its name']],
});
