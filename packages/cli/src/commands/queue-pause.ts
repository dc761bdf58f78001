import { defineHubCommand } from '../hub/hub-command.ts';

/**
 * `signalbox queue pause`: hands out no job of the workspace until `queue resume`. With `--json`:
 * `{ok, paused}`. One repository is paused by `repo pause`.
 */
export const command = defineHubCommand<{ reason?: string }>({
  describe(program) {
    program.option('--reason <text>', 'why; your team reads it');
  },

  examples: [['signalbox queue pause --reason "Release freeze"', 'everything']],

  async run({ io, options, client, workspaceId, session }) {
    const { workspaceSlug } = session;
    const { reason } = options;
    const { paused } = await client.queue.pause({ workspaceId, reason });
    if (io.json) return io.printJson({ ok: true, paused });
    const name = workspaceSlug ?? 'the workspace';
    const { green } = io.styles;
    io.print(`${green('✔')} Paused the queue of ${name}. Jobs wait; those that run continue.`);
  },
});
