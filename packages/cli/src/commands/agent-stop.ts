import { defineAgentCommand } from '../hub/send-agent-command.ts';

/** `signalbox agent stop AGENT`: its process ends after its jobs, or with `--now` at once. */
export const command = defineAgentCommand(({ now }) => (now ? 'stop-now' : 'stop'), {
  describe(program) {
    program.option('--now', 'give its jobs back to the queue, and end');
  },

  examples: [
    ['signalbox agent stop build-7', 'after the jobs that it holds'],
    ['signalbox agent stop build-7 --now', 'now; another agent begins its jobs again'],
  ],
});
