import { findRepository } from '../find/repository-reference.ts';
import { defineHubCommand } from '../hub/hub-command.ts';

/**
 * `signalbox repo pause [REPOSITORY]`: no job of it is handed out until `repo resume`. With
 * `--json`: `{ok, repoId, paused}`.
 */
export const command = defineHubCommand<{ reason?: string }>({
  describe(program) {
    program
      .argument('[repository]', 'a path in a linked clone, or a repository ID', '.')
      .option('--reason <text>', 'why; your team reads it');
  },

  examples: [['signalbox repo pause --reason "Release freeze"', 'of this clone']],

  async run({ io, args, options, session, client, workspaceId }) {
    const repoId = await findRepository(io, session, args[0] ?? '.');
    const { reason } = options;
    const { paused } = await client.queue.pause({ workspaceId, repoId, reason });
    if (io.json) return io.printJson({ ok: true, repoId, paused });
    const { green, dim } = io.styles;
    io.print(`${green('✔')} Paused ${dim(repoId)}: its jobs wait; those that run continue.`);
  },
});
